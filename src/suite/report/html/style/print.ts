/** On paper: no controls, the whole case that is open, and the rows that the script has laid out. */
export const printStyle = `
.printed { display: none; }
@media print {
  @page { margin: 14mm 12mm; }
  :root, :root[data-theme] { color-scheme: light; --ground: #fff; }
  /* Marks, bars and matrices are grounds, which browsers leave out to save ink. */
  *, *::before, *::after { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  body { font-size: 10.5pt; }
  main, .has-panel main { max-width: none; margin: 0; padding: 0; }
  .tools, .toolbar, .icon, .card-part > .link, .text > button { display: none; }
  .printed { display: block; }
  .link { color: inherit; text-decoration: none; }
  .card, .box, .row, .result > summary, tr { break-inside: avoid; }
  h1, h2, h3, summary { break-after: avoid; }
  thead { display: table-header-group; }
  details > summary { list-style: none; }
  details > summary::-webkit-details-marker { display: none; }
  .list { height: auto !important; margin: 0; }
  .row {
    position: static; transform: none !important; contain: none; height: auto; min-height: 0; padding: 5px 0;
    background: none !important; box-shadow: none !important;
  }
  .row-name { flex-wrap: wrap; white-space: normal; }
  .row-id, .row-words, .row-name .tag { overflow: visible; max-width: none; white-space: normal; overflow-wrap: anywhere; }
  .panel { position: static; width: auto; overflow: visible; border: 0; break-before: page; }
  .panel-head { position: static; padding-inline: 0; }
  .panel-body { padding-inline: 0; }
  .piece { content-visibility: visible; }
  .diff, .problems, .panel-head h2, .scroll { max-height: none; overflow: visible; }
  .has-panel { overflow: visible; }
}
`;
