/** The lower part: filters and the list. A row is as high as \`--row\` says, which the list's script reads. */
export const listStyle = `
.cases { margin-top: 36px; scroll-margin-top: 8px; }
.cases > h2 { margin-bottom: 4px; }
.toolbar {
  position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px;
  padding: 10px 0; background: var(--ground);
}
.toolbar-line, .chips, .selects, .found-line { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
.toolbar-line { flex: 1 1 300px; flex-wrap: nowrap; }
#search { flex: 1; min-width: 0; }
.toggle { display: none; }
.chip { display: inline-flex; align-items: center; gap: 8px; border-color: var(--line); border-radius: 99px; }
.chip span { color: var(--muted); font-size: 13px; }
.chip[aria-pressed="true"] { border-color: var(--accent); background: var(--accent-ground); color: var(--accent); }
.chip[aria-pressed="true"] span { color: inherit; }
.selects { gap: 8px 16px; }
.field { display: flex; align-items: center; gap: 8px; }
.field > span { color: var(--muted); font-size: 13px; }
.field select { max-width: 220px; padding: 0 8px; }
.range { display: flex; align-items: center; gap: 6px; }
.range input { width: 72px; padding: 0 8px; }
.found-line { flex: 1; min-height: 36px; justify-content: flex-end; white-space: nowrap; color: var(--muted); font-size: 13px; }
.nothing { padding: 32px 0; color: var(--muted); text-align: center; }
.list { --row: 62px; position: relative; }
.row {
  position: absolute; inset: 0 0 auto; display: grid; grid-template-columns: 20px minmax(0, 1fr) auto 48px;
  align-items: center; gap: 14px; height: var(--row); padding: 0 12px; border-top: 1px solid var(--line);
  cursor: pointer; contain: strict;
}
.row:hover { background: var(--surface); }
.row[aria-selected="true"] { background: var(--accent-ground); box-shadow: inset 3px 0 var(--accent); }
.row-name { display: flex; gap: 8px; align-items: baseline; overflow: hidden; white-space: nowrap; }
.row-id { overflow: hidden; text-overflow: ellipsis; font-weight: 600; }
.row-name .tag { flex: none; max-width: 160px; overflow: hidden; text-overflow: ellipsis; }
.row-words { overflow: hidden; color: var(--muted); font-size: 13px; text-overflow: ellipsis; white-space: nowrap; }
.row-score { text-align: end; }
.strip { display: flex; gap: 3px; }
.cell { width: 8px; height: 16px; border-radius: 2px; background: var(--line); }
.cell.passed { background: var(--good); opacity: 0.55; }
.cell.failed { background: var(--bad); }
.cell.unscored { background: var(--warn); }
@media (max-width: 899px) {
  .toolbar { position: static; gap: 10px; }
  .toolbar-line, .found-line, .selects { flex: 1 1 100%; }
  .found-line { justify-content: space-between; }
  .toggle { display: block; }
  .selects { display: none; }
  .selects.open { display: grid; grid-template-columns: minmax(0, 1fr); }
  .field { justify-content: space-between; }
  .field select { flex: 1; max-width: 70%; }
  .chip { padding: 0 10px; gap: 6px; font-size: 14px; }
  .list { --row: 68px; margin: 0 -16px; }
  .row { grid-template-columns: 20px minmax(0, 1fr) 40px; gap: 12px; padding: 0 16px; }
  .strip { display: none; }
  .row-name .tag { max-width: 96px; }
}
`;
