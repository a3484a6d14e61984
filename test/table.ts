/**
 * The rows of a table of cases. The first line names the columns; each further line is a row with `|` between cells. A
 * cell of one `${…}` has that value, and an empty one leaves its member out. Any other is a text, in which a backslash
 * only escapes a backtick.
 */
export function rowsOf<Row>(strings: TemplateStringsArray, ...values: readonly unknown[]): readonly Row[] {
  const [names = [], ...rows] = cellsOf(strings, values);
  return rows.map((cells) => {
    const members = cells.map((cell, index) => [String(names[index]), cell] as const);
    return Object.fromEntries(members.filter(([, cell]) => cell !== undefined)) as Row;
  });
}

/** Calls the function with the cells of each line. */
export function calling<Cells extends readonly never[], Made>(make: (...cells: Cells) => Made) {
  return (strings: TemplateStringsArray, ...values: readonly unknown[]): readonly Made[] =>
    cellsOf(strings, values).map((cells) => make(...(cells as unknown as Cells)));
}

function cellsOf({ raw }: TemplateStringsArray, values: readonly unknown[]): unknown[][] {
  const text = raw.map((part, index) => (index === 0 ? part : `\0${index - 1}\0${part}`)).join('');
  const lines = text
    .replaceAll('\\`', '`')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) =>
    line.split('|').map((cell) => {
      const [, whole] = /^\0(\d+)\0$/.exec(cell.trim()) ?? [];
      if (whole !== undefined) return values[Number(whole)];
      if (cell.trim() === '') return undefined;
      return cell.trim().replaceAll(/\0(\d+)\0/g, (_all, index) => String(values[Number(index)]));
    }),
  );
}
