import { cut } from '../../text/width.ts';
import { cutNote, renderTable as table, toCode } from '../report/markdown-text.ts';
import { formatMean, formatPercent } from '../report/numbers.ts';
import type { Change, Comparison } from './comparison.ts';
import { describeShadows, isShadowComparison, shadowLists, shadowRows, shadowTitles } from './shadows.ts';
import {
  describeChange,
  describeP,
  describeRegressions,
  describeScores,
  describeSide,
  describeUnpaired,
  describeUnscored,
  guardMeasures,
  guardRows,
  type NamedDifference,
  namedRows,
  summarizeDifference,
} from './wording.ts';

/** A comparison in GitHub's Markdown; at most 60,000 characters, of the 65,536 that a comment may have. */
export function renderComparisonMarkdown(comparison: Comparison): string {
  const isShadows = isShadowComparison(comparison);
  const sections = [
    [
      isShadows ? '### Shadows compared' : '### Evals compared',
      '',
      `A: ${toCode(describeSide(comparison.a))}\\`,
      `B: ${toCode(describeSide(comparison.b))}`,
    ],
    ...(isShadows ? shadowSections(comparison) : runSections(comparison)),
  ];
  let text = '';
  for (const lines of sections.filter((each) => each.length > 0)) {
    const more = `${text === '' ? '' : '\n'}${lines.join('\n')}\n`;
    if (Buffer.byteLength(text) + Buffer.byteLength(more) > longestText) return `${text}\n${cutNote}\n`;
    text += more;
  }
  return text;
}

function runSections(comparison: Comparison): string[][] {
  const rows = namedRows(comparison);
  return [
    table(titles, rows.map(toCells)),
    table(['guard', ...guardMeasures], toGuardCells(comparison)),
    rows.map(({ name, difference }) => `- ${shortCode(name)}: ${summarizeDifference(difference).join('; ')}`),
    describeUnpaired(comparison).map((line) => `- ${toCode(line)}`),
    ...rows.map(regressionTable),
  ];
}

function shadowSections(comparison: Comparison): string[][] {
  return [
    table(shadowTitles, shadowRows(comparison)),
    [...describeShadows(comparison), ...describeUnpaired(comparison)].map((line) => `- ${line}`),
    ...shadowLists(comparison).map(({ title, lines }) => [
      `${title}:`,
      '',
      ...lines.map((line) => `- ${toCode(line)}`),
    ]),
  ];
}

const longestText = 59_900;

const titles = [
  'eval',
  'pairs',
  'A passed',
  'B passed',
  'p',
  'regressions',
  'improvements',
  'flaky',
  'unscored',
  'B − A (95 %)',
];

function toCells({ name, difference }: NamedDifference): string[] {
  const { pairs, pass_rate, p_value, regressions, improvements, flaky } = difference;
  return [
    shortCode(name),
    String(pairs),
    formatPercent(pass_rate.a),
    formatPercent(pass_rate.b),
    describeP(p_value).replace('<', '&lt;'),
    String(regressions),
    String(improvements),
    String(flaky),
    describeUnscored(difference) || '0',
    describeScores(difference) || '–',
  ];
}

function toGuardCells({ evals }: Comparison): string[][] {
  return guardRows(evals).map(({ name, classified }) => [
    shortCode(name),
    ...guardMeasures.map((measure) => formatMean(classified[measure])),
  ]);
}

function regressionTable({ name, difference }: NamedDifference): string[] {
  if (difference.regressions === 0) return [];
  const rows = table(['case', 'at', 'what changed'], difference.first_regressions.map(toChangeCells));
  const title = `${describeRegressions(difference)} of ${shortCode(name)}`;
  // A summary is HTML, in which a code span means nothing unless a blank line goes before.
  return ['<details><summary>', '', title, '', '</summary>', '', ...rows, '', '</details>'];
}

function toChangeCells(change: Change): string[] {
  const { file, line } = change.b;
  return [
    shortCode(change.case),
    shortCode(`${file}:${line}`),
    toCode(cut(describeChange(change), longestDetail)),
  ];
}

const longestDetail = 240;

function shortCode(text: string): string {
  return toCode(cut(text, 80));
}
