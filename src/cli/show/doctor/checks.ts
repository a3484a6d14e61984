import { escapeInvisibleLine as oneLine } from '../../../base/text/escape-invisible.ts';
import { formatCount } from '../../../base/text/format-count.ts';
import { defaultColumns } from '../../../base/text/terminal.ts';
import { cut, padEnd, textWidth } from '../../../base/text/width.ts';
import { wrapWords } from '../../../base/text/wrap.ts';
import type { Check } from '../../../runtime/runtime.ts';
import type { Style, Terminal } from '../../terminal.ts';

/** More good ones of a kind are counted. */
const MOST_GOOD = 4;

const words = { ok: 'ok', warning: 'warning', error: 'error', 'not applicable': '–' } as const;
const styles: Readonly<Partial<Record<Check['status'], Style>>> = {
  ok: 'green',
  warning: 'yellow',
  error: 'red',
};

/** The checks, a line each, and of those that found something the place and the next step. */
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

/** With many good checks of one kind in one line. */
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
  const next =
    hint === null || status === 'ok' ? [] : wrapWords(`hint: ${oneLine(hint)}`, columns - indent.length);
  if (isGood && rest.length > 0) return [`${head}${cut(text, columns - indent.length)}`];
  return [`${head}${first}`, ...[...rest, ...place, ...next].map((more) => `${indent}${more}`)];
}

const STATUS_WIDTH = 'warning'.length;
