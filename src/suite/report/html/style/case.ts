/** The case that is open, and the help. */
export const caseStyle = `
.panel {
  position: fixed; inset: 0 0 0 auto; z-index: 3; width: 52vw; overflow-y: auto; overscroll-behavior: contain;
  border-inline-start: 1px solid var(--line); background: var(--surface);
}
.has-panel main { max-width: none; margin-inline-end: 52vw; }
.panel-head {
  position: sticky; top: 0; z-index: 1; display: flex; align-items: flex-start; gap: 4px; padding: 14px 12px 12px 24px;
  border-bottom: 1px solid var(--line); background: var(--surface);
}
.panel-head h2 { flex: 1; min-width: 0; max-height: 5em; overflow-y: auto; padding-top: 7px; }
.panel-head h2:focus { outline: none; }
.icon { flex: none; width: 36px; padding: 0; border-color: transparent; color: var(--muted); font-size: 20px; line-height: 1; }
.panel-body { display: grid; grid-template-columns: minmax(0, 1fr); gap: 14px; padding: 16px 24px 48px; }
.epoch-body { display: grid; grid-template-columns: minmax(0, 1fr); gap: 12px; }
.epoch-body h3 { margin-top: 12px; }
.panel h3 { color: var(--muted); font-size: 13px; }
.case-facts { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
.chip.epoch { padding: 0 14px 0 8px; }
.figures .mark { margin-inline-end: 8px; }
.result { border: 1px solid var(--line); border-radius: 8px; }
.result > summary { padding: 10px 14px; list-style: none; }
.result > summary::-webkit-details-marker { display: none; }
.result > :not(summary) { margin: 0 14px 10px; }
.result-title { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; }
.result-name { font-weight: 600; }
.result-score { margin-inline-start: auto; }
.result details > summary, .label, .role { color: var(--muted); font-size: 13px; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2; }
.text { display: grid; grid-template-columns: minmax(0, 1fr); gap: 6px; justify-items: start; }
.text > pre { width: 100%; unicode-bidi: plaintext; text-align: start; }
.piece { display: block; content-visibility: auto; contain-intrinsic-height: auto 4000px; }
pre.prose { font: inherit; }
pre.code { padding: 8px 10px; border-radius: 6px; background: var(--sunken); }
.hidden-note { color: var(--warn); font-size: 13px; }
.diff { max-height: 60vh; overflow-y: auto; }
ins, del, mark { border-radius: 2px; color: inherit; text-decoration: none; }
ins { background: var(--good-ground); color: var(--good); }
del { background: var(--bad-ground); color: var(--bad); text-decoration: line-through; }
mark { background: var(--accent-ground); color: var(--accent); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 12px; margin: 4px 0 8px; font-size: 12px; }
.legend > * { padding: 0 6px; }
.label { margin: 8px 0 4px; }
.sought { display: grid; gap: 4px; margin-bottom: 8px; }
.sought li { display: flex; gap: 10px; align-items: baseline; overflow-wrap: anywhere; }
.fault { padding: 10px 12px; border-radius: 6px; background: var(--bad-ground); color: var(--bad); }
.fault .hint { color: inherit; }
.fault pre { margin-top: 6px; color: var(--text); }
.talk { display: grid; grid-template-columns: minmax(0, 1fr); gap: 10px; }
.message { display: grid; grid-template-columns: minmax(0, 1fr); gap: 6px; padding-inline-start: 14px; border-inline-start: 3px solid var(--line); }
.message.assistant { border-color: var(--accent); }
.message.system, .message.tool { color: var(--muted); }
.role { display: flex; gap: 8px; align-items: baseline; }
.calls { display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px; }
.call { display: grid; grid-template-columns: minmax(0, 1fr); gap: 4px; color: var(--text); }
.help {
  width: min(440px, calc(100vw - 32px)); padding: 24px; border: 1px solid var(--line); border-radius: 12px;
  background: var(--surface); color: var(--text);
}
.help::backdrop { background: rgb(0 0 0 / 45%); }
.help dl { display: grid; gap: 10px; margin: 16px 0 20px; }
.help dl > div { display: grid; grid-template-columns: 72px 1fr; gap: 12px; }
kbd { padding: 2px 8px; border: 1px solid var(--line); border-radius: 4px; background: var(--sunken); }
@media (max-width: 899px) {
  .panel { width: 100%; border: 0; }
  .has-panel { overflow: hidden; }
  .has-panel main { margin-inline-end: auto; }
  .panel-head { padding: 10px 4px 10px 16px; }
  .panel-body { padding: 14px 16px 40px; }
  .icon { width: 44px; min-height: 44px; }
  input, select, textarea { font-size: 16px; }
}
`;
