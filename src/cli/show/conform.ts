import { escapeInvisibleLine as oneLine } from '../../base/text/escape-invisible.ts';
import { cut, defaultColumns, padEnd, wrapWords } from '../../base/text/width.ts';
import type { ConformReport, ConformRow } from '../../runtime/runtime.ts';
import type { Terminal } from '../terminal.ts';

export function renderConform(
  { name, kind, mode, rows, ms }: ConformReport,
  counts: Readonly<Record<ConformRow['status'], number>>,
  { stdout, styleStdout, nameCommands }: Terminal,
): string[] {
  const columns = stdout.columns ?? defaultColumns;
  const indented = (head: string, text: string, width = head.length) =>
    wrapWords(nameCommands(oneLine(text)), columns - width).map(
      (line, index) => `${index === 0 ? head : ' '.repeat(width)}${line}`,
    );
  const skipped = rows.filter(({ status }) => status === 'skipped').map(({ check }) => check);
  const lines = rows.flatMap(({ check, status, rule, page, sent, received, hint }) => {
    const about = `${padEnd(check, NAME_WIDTH)}  `;
    const width = STATUS_WIDTH + about.length;
    if (status === 'skipped') return [];
    if (status === 'passed')
      return [`${styleStdout('green', 'passed')}  ${about}${cut(rule, columns - width)}`];
    const parts = { sent: shortened(sent), received, contract: page, next: hint };
    return [
      ...indented(`${styleStdout('red', 'failed')}  ${about}`, rule, width),
      ...Object.entries(parts).flatMap(([word, text]) =>
        text === null ? [] : indented(`${padEnd('', STATUS_WIDTH)}${padEnd(`${word}:`, PART_WIDTH)}`, text),
      ),
    ];
  });
  const numbers = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
  return [
    ...lines,
    ...(skipped.length === 0 ? [] : indented('skipped ', skipped.join(', '))),
    '',
    `${oneLine(name)} (${kind}, ${mode}): ${numbers} in ${(ms / 1000).toFixed(1)} s`,
  ];
}

function shortened(sent: string | null): string | null {
  return sent === '' ? 'nothing' : sent && cut(oneLine(sent), MOST_SENT);
}

const STATUS_WIDTH = 'passed  '.length;
const NAME_WIDTH = 'unknown-members'.length;
const PART_WIDTH = 'received: '.length;
const MOST_SENT = 160;
