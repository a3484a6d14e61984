import type { LineResult, Results, WayResult } from './result.ts';
import type { Spread } from './statistics.ts';

export function renderLine({ id, title, unit, ways }: LineResult): string {
  const width = Math.max(...ways.map(({ name }) => name.length));
  const rows = ways.map((way) =>
    [
      `  ${way.name.padEnd(width)}`,
      `${numberOf(way.value.median).padStart(9)} ${unit.padEnd(2)}`,
      `(${rangeOf(way.value)})`.padEnd(20),
      `${numberOf(way.ratio.median).padStart(6)} ×`,
      `(${rangeOf(way.ratio)})`.padEnd(14),
      costOf(way),
    ].join(' '),
  );
  return [`${id}: ${title}`, ...rows].join('\n');
}

/** All lines as Markdown tables, one per bench, preceded by the machine. */
export function renderMarkdown({ machine, rounds, lines }: Results): string {
  const head = `${machine.class}, ${machine.cpu}, ${machine.memory_gb} GB, kernel ${machine.kernel}, Node ${machine.node}; medians of ${rounds} rounds, least to greatest in brackets.`;
  const benches = Map.groupBy(lines, ({ id }) => id.split('/')[0] ?? id);
  return [head, ...[...benches.values()].flatMap(renderTable)].join('\n\n');
}

function renderTable(lines: readonly LineResult[]): string {
  const rows = lines.flatMap(({ title, unit, ways }) =>
    ways.map((way, index) => {
      const cells = [
        index === 0 ? title : '',
        way.name,
        `${numberOf(way.value.median)} ${unit} (${rangeOf(way.value)})`,
        index === 0 ? '1' : `**${numberOf(way.ratio.median)}** (${rangeOf(way.ratio)})`,
        `${way.cpu_ms.toFixed(3)} + ${way.children_cpu_ms.toFixed(3)}`,
        way.peak_mb.toFixed(0),
      ];
      return `| ${cells.join(' | ')} |`;
    }),
  );
  return [
    '| work | way | median (least–greatest) | ratio | CPU of a call, ms: own + children | peak MB |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** A value and, unless it is that of the baseline, its ratio. */
export function cellOf({ value, ratio }: WayResult, index: number): string {
  const shown = `${numberOf(value.median)} (${rangeOf(value)})`;
  return index === 0 ? shown : `${shown} **${numberOf(ratio.median)}** (${rangeOf(ratio)})`;
}

const [begins, ends] = ['<!-- figures: begin -->', '<!-- figures: end -->'];

/** Returns the page with its marked block replaced by these tables. Throws if the page has no such block. */
export function replaceFigures(page: string, tables: string): string {
  const [from, to] = [page.indexOf(begins), page.indexOf(ends)];
  if (from < 0 || to < from) throw new Error(`the page has no block between "${begins}" and "${ends}"`);
  return `${page.slice(0, from + begins.length)}\n\n${tables}\n\n${page.slice(to)}`;
}

function costOf({ cpu_ms, children_cpu_ms, peak_mb }: WayResult): string {
  return `CPU ${cpu_ms.toFixed(3)} + ${children_cpu_ms.toFixed(3)} ms, ${peak_mb.toFixed(0)} MB`;
}

function rangeOf({ min, max }: Spread): string {
  return `${numberOf(min)}–${numberOf(max)}`;
}

/** Three significant digits. */
function numberOf(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 ? 2 : 3;
  return value.toFixed(digits).replace(/\B(?=(?:\d{3})+$)/gu, digits === 0 ? ',' : '');
}
