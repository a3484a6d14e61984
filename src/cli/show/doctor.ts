import { escapeInvisibleLine as oneLine } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { cut, defaultColumns, eraseLine, padEnd, textWidth, wrapWords } from '../../base/text/width.ts';
import type { ChaosCell, ChaosReport, Check, UntriedHook } from '../../runtime/runtime.ts';
import type { Style, Terminal } from '../terminal.ts';

const MOST_GOOD = 4;

const words = { ok: 'ok', warning: 'warning', error: 'error', 'not applicable': '–' } as const;
const styles: Readonly<Partial<Record<Check['status'], Style>>> = {
  ok: 'green',
  warning: 'yellow',
  error: 'red',
};

export function renderChecks(checks: readonly Check[], terminal: Terminal): string[] {
  const columns = terminal.stdout.columns ?? defaultColumns;
  const shown = collapse(checks).map((check) => ({
    ...check,
    hint: check.hint === null ? null : terminal.nameCommands(check.hint),
  }));
  const width = Math.max(0, ...shown.map(({ check }) => textWidth(check)));
  const lines = shown.flatMap((check) => linesOf(check, { columns, width, paint: terminal.styleStdout }));
  const count = (status: Check['status']) => checks.filter((check) => check.status === status).length;
  const summary = `${formatCount(count('error'), 'error')}, ${formatCount(count('warning'), 'warning')}, ${count('ok')} ok`;
  return [...lines, '', summary];
}

function collapse(checks: readonly Check[]): Check[] {
  const good = Map.groupBy(
    checks.filter(({ status }) => status === 'ok'),
    ({ check }) => check,
  );
  return checks.flatMap((check) => {
    const alike = good.get(check.check) ?? [];
    if (check.status !== 'ok' || alike.length <= MOST_GOOD) return [check];
    return check === alike[0] ? [{ ...check, subject: '', message: `${alike.length} of them` }] : [];
  });
}

interface View {
  readonly columns: number;
  readonly width: number;
  readonly paint: Terminal['styleStdout'];
}

function linesOf({ check, subject, status, message, hint, file, line, column }: Check, view: View): string[] {
  const { columns, width, paint } = view;
  const style = styles[status];
  const word = padEnd(words[status], STATUS_WIDTH);
  const head = `${style === undefined ? word : paint(style, word)} ${padEnd(check, width)}  `;
  const indent = ' '.repeat(STATUS_WIDTH + 1 + width + 2);
  const text = [subject, message]
    .filter((part) => part !== '')
    .map(oneLine)
    .join(': ');
  const [first = '', ...rest] = wrapWords(text, columns - indent.length);
  const isGood = status === 'ok' || status === 'not applicable';
  const place = file === null || isGood ? [] : [`${oneLine(file)}:${line}:${column}`];
  const next = hint === null || status === 'ok' ? [] : wrapHint(oneLine(hint), columns - indent.length);
  if (isGood && rest.length > 0) return [`${head}${cut(text, columns - indent.length)}`];
  return [`${head}${first}`, ...[...rest, ...place, ...next].map((more) => `${indent}${more}`)];
}

/** A command at the end stays on one line, so that it can be copied. */
function wrapHint(hint: string, columns: number): string[] {
  const [, before = hint, command] = /^(.*?\brun:) (.+)$/i.exec(hint) ?? [];
  return [...wrapWords(`hint: ${before}`, columns), ...(command === undefined ? [] : [command])];
}

const STATUS_WIDTH = 'warning'.length;

type Paint = Terminal['styleStdout'];

export function renderChaos(report: ChaosReport, terminal: Terminal): string[] {
  const columns = terminal.stdout.columns ?? defaultColumns;
  const paint = terminal.styleStdout;
  const lines = [
    ...tableOf(report, columns, paint),
    ...openWithout(report, columns, paint),
    ...openByRule(report, columns, paint),
    ...untriedLines(report, columns, paint),
  ];
  return [...lines, ...wrapWords(summaryOf(report), columns)];
}

export function openPercent(
  { stderr }: Terminal,
  noun: string,
): {
  update(done: number, total: number): void;
  end(): void;
} {
  let shown = '';
  return {
    update: (done, total) => {
      if (!stderr.isTTY) return;
      const text = `${Math.floor((100 * done) / total)} % of ${total} ${noun}`;
      if (text === shown) return;
      shown = text;
      stderr.write(`${eraseLine}${text}`);
    },
    end: () => {
      if (shown !== '') stderr.write(eraseLine);
    },
  };
}

function tableOf({ cells, faults }: ChaosReport, columns: number, paint: Paint): string[] {
  if (cells.length === 0) return [];
  const letters = faults.map((_, index) => letterOf(index));
  const room = Math.max(8, columns - 2 * faults.length - 1);
  const rows = [...Map.groupBy(cells, ({ hook }) => hook)].map(([hook, own]) => {
    const marks = faults.map(({ name }) => markOf(own.filter(({ fault }) => fault === name)));
    const painted = marks.map((mark) =>
      mark.style === undefined ? mark.sign : paint(mark.style, mark.sign),
    );
    return `${padEnd(cut(oneLine(hook), room), room)} ${painted.join(' ')}`.trimEnd();
  });
  const legend = faults.map(({ name, title }, index) => `  ${letterOf(index)}  ${padEnd(name, 13)} ${title}`);
  const signs = '  .  denied or left to a person   r  passes by a rule   !  passes without one';
  return [
    paint('bold', `${' '.repeat(room)} ${letters.join(' ')}`.trimEnd()),
    ...rows,
    '',
    ...[...legend, signs].map((line) => cut(line, columns)),
    '',
  ];
}

function letterOf(index: number): string {
  return String.fromCharCode(97 + index);
}

interface Mark {
  readonly sign: string;
  readonly style?: Style;
}

function markOf(cells: readonly ChaosCell[]): Mark {
  if (cells.length === 0) return { sign: ' ' };
  if (cells.some(isBare)) return { sign: '!', style: 'red' };
  return cells.every(({ isClosed }) => isClosed)
    ? { sign: '.', style: 'green' }
    : { sign: 'r', style: 'yellow' };
}

function isBare({ isClosed, rule }: ChaosCell): boolean {
  return !isClosed && rule === null;
}

function openWithout({ cells, places }: ChaosReport, columns: number, paint: Paint): string[] {
  const bare = cells.filter(isBare);
  if (bare.length === 0) return [];
  const lines = bare.flatMap(({ hook, dialect, moment, title, verdict }) => {
    const place = placeOf(hook, places);
    const text = `${place}${oneLine(hook)} (${dialect} ${moment}) ${title}: ${verdict}`;
    return indented(text, columns);
  });
  const hint = indented(
    'hint: Do not rely on it. Set `on_failure: deny`, and report it as a vulnerability.',
    columns,
  );
  return [paint('red', cut('Passes without a documented rule:', columns)), ...lines, ...hint, ''];
}

function openByRule({ cells, places }: ChaosReport, columns: number, paint: Paint): string[] {
  const open = cells.filter(({ isClosed, rule }) => !isClosed && rule !== null);
  if (open.length === 0) return [];
  const lines = [...Map.groupBy(open, ({ hook }) => hook)].flatMap(([hook, own]) => [
    ...indented(`${placeOf(hook, places)}${oneLine(hook)} (${momentsOf(own)})`, columns),
    ...[...Map.groupBy(own, ({ rule }) => rule)].flatMap(([rule, ruled]) => {
      const faults = [...new Set(ruled.map(({ fault }) => fault))].join(', ');
      return indented(`${rule}: ${faults}`, columns, '    ');
    }),
  ]);
  const title = 'Passes by a rule of its own system (docs/reference/dialects.md, "What fails open"):';
  const hint =
    'hint: `on_failure: deny` makes these deny, except for answers that their systems define: no_opinion, plain_text, exit_2.';
  return [paint('yellow', cut(title, columns)), ...lines, ...indented(hint, columns), ''];
}

function momentsOf(cells: readonly ChaosCell[]): string {
  const moments = [...new Set(cells.map(({ moment }) => moment))];
  const [first] = cells;
  return `${first?.dialect} ${moments.length > 3 ? `${moments.length} points` : moments.join(', ')}`;
}

function placeOf(hook: string, places: ChaosReport['places']): string {
  const place = places.get(hook);
  return place === undefined ? '' : `${oneLine(place.file)}:${place.line}:${place.column} `;
}

function untriedLines({ untried }: ChaosReport, columns: number, paint: Paint): string[] {
  const list = (state: UntriedHook['state'], title: string, style: Style = 'yellow') => {
    const own = untried.filter((each) => each.state === state);
    const lines = own.flatMap(({ hook, why }) => indented(`${oneLine(hook)} ${oneLine(why)}`, columns));
    return own.length === 0 ? [] : [paint(style, cut(title, columns)), ...lines, ''];
  };
  return [
    ...list('unreached', 'No event reaches:', 'red'),
    ...list('unproven', 'Not proven:'),
    ...list('never asked', 'Not tried:'),
  ];
}

function indented(text: string, columns: number, indent = '  '): string[] {
  return wrapWords(text, columns - indent.length - 2).map(
    (line, index) => `${indent}${index === 0 ? '' : '  '}${line}`,
  );
}

function summaryOf({ cells, ms }: ChaosReport): string {
  if (cells.length === 0) return 'no filter to try: 0 cells';
  const hooks = new Set(cells.map(({ hook }) => hook)).size;
  const denied = cells.filter(({ isClosed }) => isClosed).length;
  const bare = cells.filter(isBare).length;
  const ruled = cells.length - denied - bare;
  const filters = formatCount(hooks, 'filter');
  return `${filters}, ${cells.length} cells in ${(ms / 1000).toFixed(1)} s: ${denied} denied, ${ruled} open by a rule, ${bare} open without one`;
}
