/** The upper part of the page: verdict, gates, evals. */
export const summaryStyle = `
main { position: relative; max-width: 1240px; margin: 0 auto; padding: 28px 32px 64px; }
.tools { position: absolute; inset: 24px 20px auto auto; display: flex; }
.summary { display: grid; grid-template-columns: minmax(0, 1fr); gap: 20px; }
.title { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 14px; margin-bottom: 14px; padding-inline-end: 140px; }
.title .pill { font-size: 14px; padding: 3px 12px; }
.run-id { font-family: var(--mono); font-size: 13px; }
.notice {
  padding: 10px 14px; border-radius: 8px; background: var(--warn-ground); color: var(--warn);
}
.box, .card { border: 1px solid var(--line); border-radius: 10px; background: var(--surface); }
.box { padding: 8px 16px; }
.box > summary .mark { margin-inline-end: 8px; }
.problems { display: grid; gap: 10px; padding: 8px 0; max-height: 360px; overflow-y: auto; }
.gates .mark { margin-inline-end: 10px; }
.gates th[scope="row"] { width: 40%; overflow-wrap: anywhere; }
.gates td:nth-child(2) { overflow-wrap: anywhere; }
.gates .value { font-weight: 600; }
.gates .failed .value { color: var(--bad); }
.summary h2 { margin: 8px 0 12px; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(340px, 100%), 1fr)); gap: var(--gap); align-items: start; }
.card, .card-part { display: grid; grid-template-columns: minmax(0, 1fr); gap: 14px; align-content: start; }
.card { padding: 16px 18px; }
.big { font-size: 30px; font-weight: 600; line-height: 1.15; letter-spacing: -0.02em; }
.rate-box { display: grid; gap: 2px; }
.rate { width: 100%; max-width: 340px; margin: 8px 0 4px; fill: var(--text); }
.rate .track { fill: var(--line); }
.rate .interval { fill: var(--strong-line); }
.facts.small { display: grid; grid-template-columns: repeat(auto-fill, minmax(112px, 1fr)); gap: 8px 16px; }
.facts.small dd { font-size: 14px; }
.histogram { max-width: 560px; }
.histogram svg {
  display: block; width: 100%; height: 64px; border-bottom: 1px solid var(--strong-line);
  fill: color-mix(in srgb, var(--accent) 75%, var(--surface));
}
.histogram figcaption { display: flex; justify-content: space-between; }
.card details > summary { color: var(--muted); font-size: 13px; }
.card .link { justify-self: start; font-size: 14px; }
.classification { display: grid; grid-template-columns: minmax(0, 1fr); gap: 14px; }
.matrix { text-align: center; table-layout: fixed; }
.matrix caption { padding-bottom: 4px; color: var(--muted); font-size: 12px; text-align: start; }
.matrix thead th { text-align: center; }
.matrix th[scope="row"] { color: var(--muted); font-size: 12px; }
.matrix tbody tr { border: 0; }
.matrix td { padding: 8px 0; border: 2px solid var(--surface); font-weight: 600; }
.matrix .hit { background: var(--good-ground); color: var(--good); }
.matrix .miss { background: var(--bad-ground); color: var(--bad); }
.matrix .zero { background: var(--sunken); color: var(--muted); font-weight: 400; }
.roc { width: 100%; max-width: 208px; fill: none; stroke-width: 1.5; }
.roc .frame { stroke: var(--strong-line); stroke-width: 0.75; }
.roc .chance { stroke: var(--line); stroke-dasharray: 3 3; }
.roc polyline { stroke: var(--accent); stroke-linejoin: round; }
.roc circle { fill: var(--accent); }
figcaption { color: var(--muted); font-size: 12px; }
@media (min-width: 900px) {
  .cards:not(:has(> :nth-child(2))) { grid-template-columns: minmax(0, 1fr); }
  :root:not(.has-panel) .card:only-child:has(> :nth-child(2)) { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 14px 48px; }
}
@media (max-width: 899px) {
  main { padding: 20px 16px 48px; }
  .tools { inset: 16px 4px auto auto; }
  h1 { font-size: 22px; }
  .facts { gap: 8px 20px; }
  .gates thead { display: none; }
  .gates tr { display: grid; grid-template-columns: 1fr auto; gap: 0 12px; padding: 6px 0; }
  .gates tbody tr:first-child { border-top: 0; }
  .gates th, .gates td { padding: 2px 0; }
  .gates th[scope="row"] { grid-column: 1 / -1; width: auto; }
  .gates td:nth-child(2) { grid-column: 1 / -1; padding-inline-start: 30px; color: var(--muted); font-size: 13px; }
  .gates td:nth-child(3) { padding-inline-start: 30px; }
}
`;
