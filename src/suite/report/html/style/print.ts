/** On paper: no controls, the whole case that is open, and the rows that the script has laid out. */
export const printStyle = `
@media print {
  :root, :root[data-theme] { color-scheme: light; --ground: #fff; }
  body { font-size: 11pt; }
  main, .has-panel main { max-width: none; margin: 0; padding: 0; }
  .tools, .toolbar, .icon, .card-part > .link, .text > button { display: none; }
  .card, .box, .result, .row { break-inside: avoid; }
  .list { height: auto !important; }
  .row { position: static; transform: none !important; contain: none; }
  .panel { position: static; width: auto; overflow: visible; border: 0; break-before: page; }
  .panel-head { position: static; padding-inline: 0; }
  .panel-body { padding-inline: 0; }
  .diff, .problems, .panel-head h2 { max-height: none; overflow: visible; }
  .has-panel { overflow: visible; }
}
`;
