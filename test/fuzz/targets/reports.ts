import { parse } from 'csv-parse/sync';
import { textWidth } from '../../../src/base/text/width.ts';
import { reporters } from '../../../src/suites/report/delivery.ts';
import { renderMarkdown } from '../../../src/suites/report/markdown.ts';
import { renderTable } from '../../../src/suites/report/terminal/table.ts';
import {
  caseOf,
  evalResultOf,
  evalStatsOf,
  headerOf,
  newTextSink,
  reporterOf,
  reportOf,
  stats,
} from '../../suites/report/reports.ts';
import { holds, type Target } from '../target.ts';

/** Reports in which every name and text is the input. */
export const reports: Target = {
  seeds: [
    'plain',
    '=1+1\t"x",\'y\'\r\n@b',
    '<script>alert(1)</script>&amp;]]>',
    '::error::x%0A::set-output name=a::b',
    '| a `b` [c](http://d) # e\n---',
    '\u001b[2J\u202e😀\ud800',
  ],
  tokens: [
    ...[
      '<',
      '>',
      '&',
      '"',
      "'",
      ']]>',
      '<!--',
      '-->',
      '</script>',
      '<img src=x onerror=alert(1)>',
      '&#0;',
      '\0',
      '\u001b[31m',
      '\u0085',
      '\ufffe',
    ],
    ...[
      '=',
      '+',
      '-',
      '@',
      '\t',
      '\r',
      '\n',
      '\r\n',
      ',',
      ';',
      '""',
      '|',
      '\\',
      '`',
      '``',
      '[a](b)',
      '::',
      '%0A',
      '%25',
      '::add-mask::',
      '{',
      '}',
    ],
    ...[
      '漢',
      '😀',
      '\u200d',
      '\ud800',
      '\udc00',
      '\u2028',
      '\uff1d',
      '${',
      '{{',
      '<!doctype html>',
      'javascript:',
      '\u00a0=',
      ' =1',
    ],
  ],
  maxLength: 200,
  run: async (text) => {
    const failure = { case: text, file: text, line: 1, eval: text, score: 0, detail: text };
    const report = reportOf({
      suite: text,
      status: 'failed',
      evals: { [`e${text}`]: evalStatsOf({ tags: { [`t${text}`]: stats } }) },
      gates: [{ eval: text, metric: text, tag: text, value: 1, min: 1, max: null, passed: true }],
      failures: [failure],
      failure_count: 1,
    });
    const write = async (open: Parameters<typeof reporterOf>[0]) => {
      const sink = newTextSink();
      const reporter = await reporterOf(open)(sink);
      await reporter.begin(headerOf({ suite: text }));
      await reporter.onCase(
        caseOf([evalResultOf({ score: 0, passed: false, detail: text })], {
          id: text,
          file: text,
          tags: [text],
        }),
      );
      await reporter.end(report);
      return sink.text();
    };
    checkCsv(await write(reporters.csv.open), text);
    checkGithub(await write(reporters.github.open));
    checkXml(await write(reporters.junit.open));
    // Pages are long, so only some of the inputs are checked.
    if (text.length % 6 === 0) checkHtml(await write(reporters.html.open));
    JSON.parse(await write(reporters.sarif.open));
    for (const columns of [20, 80]) {
      const lines = renderTable(report, false, columns).split('\n');
      holds(
        lines.every((line) => textWidth(line) <= columns),
        'a line of the table is too wide',
        columns,
      );
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
      holds(!/[\0-\x09\x0b-\x1f\x7f-\x9f]/.test(lines.join('')), 'the table has what a terminal obeys');
      holds(!lines.some((line) => /^\s*::|##\[/.test(line)), 'the table has what a log of a CI obeys');
    }
    const markup = renderMarkdown(report).replaceAll(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, '');
    holds(
      !/<(?!\/?(?:details|summary)>)|]\(|@\w/.test(markup),
      'markup in Markdown',
      markup.match(/.{0,9}(?:<(?!\/?(?:details|summary)>)|]\(|@\w).{0,9}/)?.[0],
    );
  },
};

function checkCsv(csv: string, text: string): void {
  const rows: Readonly<Record<string, string>>[] = parse(csv, { columns: true });
  holds(rows.length === 1, 'the rows of the CSV', rows.length);
  const [row = {}] = rows;
  for (const cell of Object.values(row))
    holds(!/^[=+\-@\t\r\n＝＋－＠]/.test(cell) || /^-?\d/.test(cell), 'a formula', cell);
  holds(
    [text.toWellFormed(), `'${text.toWellFormed()}`].includes(row['detail'] ?? ''),
    'the text of a cell',
    row['detail'],
  );
}

function checkGithub(lines: string): void {
  const commands = lines.split(/\r\n|\r|\n/).filter((line) => line !== '');
  holds(
    commands.length === 2 && commands.every((line) => /^::(?:error|notice) /.test(line)),
    'the commands',
    commands,
  );
}

/** Only our elements and attributes, and no characters that XML forbids. */
function checkXml(xml: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  holds(!/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/u.test(xml), 'a character that XML forbids');
  const bare = xml.replaceAll(
    /<\?xml[^>]*\?>|<\/?(?:testsuites|testsuite|testcase|failure|error|skipped|properties|property|system-out|system-err)(?:\s+[\w-]+="[^"<]*")*\s*\/?>/g,
    '',
  );
  holds(!/[<]|]]>/.test(bare), 'markup in JUnit', bare.match(/.{0,20}[<].{0,20}/)?.[0]);
  holds(!/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\dA-Fa-f]+);)/.test(xml), 'an entity in JUnit');
}

let emptyPage: readonly string[] | undefined;

function checkHtml(page: string): void {
  const tags = tagsOf(page);
  emptyPage ??= tags;
  holds(
    tags.join() === emptyPage.join(),
    'elements of the page',
    tags.filter((tag, at) => tag !== emptyPage?.[at]).slice(0, 3),
  );
}

function tagsOf(page: string): string[] {
  return [...page.matchAll(/<(?:\/?[a-z][^\s>]*|!--|!doctype)/gi)].map(([tag]) => tag.toLowerCase());
}
