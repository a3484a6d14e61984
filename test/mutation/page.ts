import type { FileRecord, MutationRecord } from './record.ts';

/** docs/internals/mutation.md: what the record says, and each survivor with its reason. */
export function toPage(record: MutationRecord): string {
  const tried = Object.entries(record).flatMap(([file, each]) => (each === null ? [] : [{ file, ...each }]));
  const untried = Object.entries(record).flatMap(([file, each]) => (each === null ? [file] : []));
  const all = {
    killed: tried.reduce((sum, { killed }) => sum + killed, 0),
    survivors: tried.flatMap(({ survivors }) => survivors),
  };
  return [
    intro,
    '| file | mutants | killed | score |\n| --- | --- | --- | --- |',
    ...tried.map(({ file, ...each }) => rowOf(`\`${file}\``, each)),
    rowOf('**all**', all),
    '\n## Survivors\n',
    'Each stands with why no test sees it.\n',
    ...tried.filter(({ survivors }) => survivors.length > 0).map(survivorsOf),
    ...(untried.length === 0
      ? []
      : ['## Not tried yet\n', `${untried.map((file) => `\`${file}\``).join(', ')}\n`]),
  ]
    .join('\n')
    .concat('');
}

function rowOf(name: string, { killed, survivors }: Pick<FileRecord, 'killed' | 'survivors'>): string {
  const count = killed + survivors.length;
  return `| ${name} | ${count} | ${killed} | ${count === 0 ? '' : `${((100 * killed) / count).toFixed(1)} %`} |`;
}

function survivorsOf({ file, survivors }: FileRecord & { readonly file: string }): string {
  const rows = survivors.map(
    ({ line, was, becomes, why }) =>
      `| ${line} | ${codeOf(was)} | ${codeOf(becomes)} | ${why || 'not looked at yet'} |`,
  );
  return `### ${file}\n\n| line | was | becomes | why |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function codeOf(text: string): string {
  if (text === '') return '(nothing)';
  const shown = text.replaceAll('|', '\\|');
  return shown.includes('`') ? `\`\` ${shown} \`\`` : `\`${shown}\``;
}

const intro = `# Mutation testing

\`npm run mutate -- AREA\` breaks the safety core one place at a time (Stryker) and shows which of these mutants no test sees; the areas stand in
test/mutation/areas.ts. \`node test/mutation/record.ts\` writes the record, test/mutation/record.json, and this page.

- Every test of an area is loaded once, into one process, and the tests that meet a mutant run again there, the fastest first, until one fails. A test that
  fails with a mutant must pass without it right after, else the process is replaced and the mutant is tried again.
- \`MUTATION_BUDGET_MS\` is how long tests may look at one mutant. \`MUTATION_SLOWEST_MS\` leaves out tests that took longer in the run before: the
  decoders of foreign dialects were tried with 250 and 150, so that hardly a test which starts a process has a part in their scores.
- Not mutated: words of messages and hints (test/mutation/messages-only.ts says which), and what runs only when a module is loaded.
- A mutant that changes a verdict, a code or an effect gets a test. What is left is listed here with its reason.

## Score
`;
