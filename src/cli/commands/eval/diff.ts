import { RuntimeError } from '../../../base/errors.ts';
import { escapeInvisibleLine } from '../../../base/text/escape-invisible.ts';
import { command, type Flags } from '../../command.ts';
import { isRunFile, type OpenRun, openRunFinder } from './find-run.ts';

const diffOptions = {
  '--tag-a <tag>': 'only the cases of A with this tag',
  '--tag-b <tag>': 'only the cases of B with this tag',
  '--eval-a <id>': 'compare this eval of A …',
  '--eval-b <id>': '… with this eval of B',
  '--variant <name>': 'compare only this variant of both runs',
  '--fail-on-regression [rule]': [
    'exit 1 if B is worse; without a rule, any regression counts',
    { choices: ['any', 'significant'] },
  ],
  '--reporter <name>': [
    'the format of the comparison',
    { choices: ['table', 'markdown', 'json'], default: 'table' },
  ],
  '--html <file>': 'also write the comparison as an HTML page',
} as const;

export const diffCommand = command('diff <a> [b]', {
  about: 'compare two runs, or two sides of one, case by case',
  options: diffOptions,
  examples: `
A is the run before, B the run after. Each is a file of \`eval run --reporter jsonl=FILE\`, the id of a stored run
(see \`eval list\`), \`last\` or \`last~1\`.

Examples:
  signalbox eval diff last~1 last
  signalbox eval diff main.jsonl branch.jsonl --fail-on-regression significant
  signalbox eval diff main.jsonl last --reporter markdown > comment.md
  signalbox eval diff last~1 last --html diff.html
  signalbox eval diff last --tag-a small --tag-b large
  signalbox eval diff last~1 last --variant large/plain
  signalbox eval diff last --eval-a exact --eval-b judged --json | jq '.evals[0].p_value'

Exit codes: 0 compared, and not worse by --fail-on-regression; 1 worse, or nothing to compare, with
--fail-on-regression; 2 wrong call, file or run, or a store or stdout that fails; 130 interrupted.`,
  run: async (context, own, nameA, nameB = nameA) => {
    requireSides(nameA === nameB, own);
    const finder = openRunFinder(context);
    const a = await finder.open(nameA);
    const b = nameB === nameA ? a : await finder.open(nameB);
    requireOneProject(a, b);
    const { loadResults } = await import('../../../runtime/runtime.ts');
    const { compareRuns, findRegressions, renderComparison, renderComparisonMarkdown, ...more } =
      await loadResults();
    const comparison = await compareRuns(a, b, own);
    if (own.html !== undefined) {
      const inputs = [nameA, nameB]
        .filter(isRunFile)
        .map((file) => ({ file, what: 'a run of the comparison' }));
      await more.writeReport(own.html, more.renderComparisonHtml(comparison), { inputs });
    }
    const { options, terminal } = context;
    const rule = own.failOnRegression === true ? 'any' : own.failOnRegression;
    const regressions = rule === undefined ? [] : findRegressions(comparison, rule);
    if (options.json || own.reporter === 'json') {
      terminal.printJson(rule === undefined ? comparison : { ...comparison, failures: regressions });
    } else if (own.reporter === 'markdown') terminal.print(renderComparisonMarkdown(comparison).trimEnd());
    else terminal.print(renderComparison(comparison, terminal.hasColour, terminal.stdout.columns).trimEnd());
    for (const reason of regressions)
      terminal.printStderr(`${terminal.styleStderr('red', 'worse')}: ${escapeInvisibleLine(reason)}`);
    return regressions.length === 0 ? 0 : 1;
  },
});

/** Throws USAGE if two projects have suites of the same name: `last` and ids match in every store below the folder. */
function requireOneProject(a: OpenRun, b: OpenRun): void {
  const isOther = a.config !== undefined && b.config !== undefined && a.config !== b.config;
  if (!isOther || a.header.suite !== b.header.suite) return;
  throw new RuntimeError(
    'USAGE',
    `both runs are of a suite "${a.header.suite}", but of different projects: ${a.config} and ${b.config}`,
    {
      hint: `Name the project: --config ${a.config} or --config ${b.config}. To compare projects, give files of \`eval run --reporter jsonl=FILE\`.`,
    },
  );
}

function requireSides(isOneRun: boolean, { tagA, tagB, evalA, evalB }: Flags<typeof diffOptions>): void {
  if ((evalA === undefined) !== (evalB === undefined)) {
    throw new RuntimeError('USAGE', '--eval-a and --eval-b need each other', {
      hint: 'Give both, or neither: each eval is then compared with the one of the same id.',
    });
  }
  if (!isOneRun || tagA !== tagB || evalA !== evalB) return;
  throw new RuntimeError('USAGE', 'the comparison has only one side', {
    hint: 'Give a second run, --tag-a and --tag-b, or --eval-a and --eval-b.',
  });
}
