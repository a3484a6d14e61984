/** Colours, letters and what is alike everywhere. Text on its ground has a contrast of at least 4.5 in both themes. */
export const baseStyle = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f7f7f6, #131518);
  --surface: light-dark(#ffffff, #1b1e22);
  --sunken: light-dark(#f1f1ef, #15171a);
  --tag: light-dark(#eeeeeb, #25292f);
  --line: light-dark(#e2e2df, #2d3137);
  --strong-line: light-dark(#8b8b86, #767d87);
  --text: light-dark(#1d1f22, #e7e9ec);
  --muted: light-dark(#5a5e64, #a3a9b2);
  --accent: light-dark(#2456b8, #8fb5ff);
  --accent-ground: light-dark(#eaf0fb, #212c40);
  --good: light-dark(#16703f, #66cc95);
  --good-ground: light-dark(#e6f3ea, #17291f);
  --bad: light-dark(#b3261e, #ff958c);
  --bad-ground: light-dark(#fbeae8, #35201f);
  --warn: light-dark(#825500, #e3b65b);
  --warn-ground: light-dark(#f9f0dc, #2e2717);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "Segoe UI Mono", "Liberation Mono", Menlo, monospace;
  --gap: 16px;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0;
  background: var(--ground);
  color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
h1, h2, h3, p, dl, dd, ul, ol, figure { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1, h2, h3 { line-height: 1.25; font-weight: 600; overflow-wrap: anywhere; }
h1 { font-size: 26px; letter-spacing: -0.01em; }
h2 { font-size: 18px; }
h3 { font-size: 15px; }
bdi, small, code { overflow-wrap: anywhere; }
small { color: var(--muted); font-size: 13px; font-weight: 400; }
code, kbd, pre { font-family: var(--mono); font-size: 13px; }
button, input, select { font: inherit; color: inherit; }
button { cursor: pointer; }
button, input, select {
  min-height: 36px;
  padding: 0 12px;
  border: 1px solid var(--strong-line);
  border-radius: 6px;
  background: var(--surface);
}
button:hover { background: var(--accent-ground); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
[hidden] { display: none !important; }
.quiet { border-color: transparent; background: none; color: var(--muted); }
.link {
  min-height: 0; padding: 2px 0; border: 0; border-radius: 2px; background: none;
  color: var(--accent); text-align: start; text-decoration: underline; text-decoration-color: transparent;
  text-underline-offset: 3px;
}
.link:hover { background: none; text-decoration-color: currentColor; }
.unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.note, .hint, .place, .kind, .sub { color: var(--muted); font-size: 13px; }
.place { font-family: var(--mono); overflow-wrap: anywhere; }
.bad { color: var(--bad); }
.mark { display: inline-flex; flex: none; width: 20px; height: 20px; border-radius: 50%; vertical-align: -1px; }
.mark svg {
  width: 12px; height: 12px; margin: auto; fill: none; stroke: currentColor; stroke-width: 2.2;
  stroke-linecap: round; stroke-linejoin: round;
}
.pill { display: inline-block; flex: none; padding: 2px 10px; border-radius: 99px; font-size: 13px; font-weight: 600; }
.pill::first-letter { text-transform: uppercase; }
.mark.passed, .pill.passed { background: var(--good-ground); color: var(--good); }
.mark.failed, .pill.failed { background: var(--bad-ground); color: var(--bad); }
.mark.unscored, .pill.unscored, .pill.error { background: var(--warn-ground); color: var(--warn); }
.tag, .flag {
  padding: 1px 7px; border-radius: 4px; background: var(--tag); color: var(--muted);
  font-size: 12px; font-weight: 400; line-height: 1.5;
}
.flag { background: var(--warn-ground); color: var(--warn); }
.flag.judged { background: var(--accent-ground); color: var(--accent); }
summary { cursor: pointer; padding: 4px 0; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { font-weight: 400; text-align: start; }
thead th { color: var(--muted); font-size: 12px; }
th, td { padding: 5px 12px 5px 0; vertical-align: baseline; }
td:last-child, th:last-child { padding-inline-end: 0; }
tbody tr { border-top: 1px solid var(--line); }
.figures td, .figures thead th:not(:first-child) { text-align: end; white-space: nowrap; }
.figures th[scope="row"] { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
.facts { display: flex; flex-wrap: wrap; gap: 10px 28px; }
.facts dt { color: var(--muted); font-size: 12px; }
.facts dd { overflow-wrap: anywhere; }
.facts > div { min-width: 0; }
@media (prefers-reduced-motion: no-preference) {
  .panel { animation: appear 120ms ease-out; }
  @keyframes appear { from { opacity: 0; transform: translateX(12px); } }
}
`;
