import type { FileRecord, MutationRecord, Survivor } from './record.ts';

/** docs/internals/mutation.md: the score of each file, and the reasons for its survivors. */
export function toPage(record: MutationRecord): string {
  const tried = Object.entries(record).flatMap(([file, each]) => (each === null ? [] : [{ file, ...each }]));
  const untried = Object.entries(record).flatMap(([file, each]) => (each === null ? [file] : []));
  const all = {
    killed: tried.reduce((sum, { killed }) => sum + killed, 0),
    survivors: tried.flatMap(({ survivors }) => survivors),
  };
  return [
    intro,
    `| file | mutants | killed | score | ${reasons.map(({ name }) => name).join(' | ')} |`,
    `| --- | --- | --- | --- |${' --- |'.repeat(reasons.length)}`,
    ...tried.map(({ file, ...each }) => rowOf(`\`${file}\``, each)),
    rowOf('**all**', all),
    ...(untried.length === 0
      ? []
      : ['\n## Not tried yet\n', untried.map((file) => `\`${file}\``).join(', ')]),
    '',
  ].join('\n');
}

/** The columns of survivors. The first match of the reason counts. */
const reasons: readonly { readonly name: string; readonly fits: RegExp }[] = [
  { name: 'equivalent', fits: /^equivalent/ },
  { name: 'words only', fits: /^only / },
  { name: 'killed since', fits: /^killed / },
  { name: 'other', fits: /./ },
  { name: 'no reason yet', fits: /^$/ },
];

function rowOf(name: string, { killed, survivors }: Pick<FileRecord, 'killed' | 'survivors'>): string {
  const count = killed + survivors.length;
  const score = count === 0 ? '' : `${((100 * killed) / count).toFixed(1)} %`;
  const counts = reasons.map((reason) => survivors.filter((each) => reasonOf(each) === reason).length || '');
  return `| ${[name, count, killed, score, ...counts].join(' | ')} |`;
}

function reasonOf({ why }: Survivor): (typeof reasons)[number] | undefined {
  return reasons.find(({ fits }) => fits.test(why));
}

const intro = `# Mutation testing

\`npm run mutate -- AREA\` changes the safety core in one place at a time ([Stryker](https://stryker-mutator.io)). Each change is a mutant, and the command reports those that no test finds. test/mutation/areas.ts lists the areas.

\`node test/mutation/record.ts\` writes the results to test/mutation/record.json, and rewrites this page.

- Each area loads its tests once, into one process. There, the tests that reach a mutant run until one fails, the fastest first.
- A test that fails with a mutant must pass without it right after. If it does not, the mutant runs again in a new process.
- \`MUTATION_BUDGET_MS\` limits the time of all tests of one mutant.
- \`MUTATION_SLOWEST_MS\` leaves out tests that took longer in the run before. The decoders of foreign dialects ran with limits of 250 and 150 ms. This leaves out nearly all tests that start a process.
- Stryker does not change the words of messages and hints (test/mutation/messages-only.ts), or code that runs only when a module loads.
- If a mutant changes a verdict, a code or an effect, add a test for it. Any other survivor needs a reason in \`why\` of test/mutation/record.json.

## Score

The last columns count the survivors by their reason. Each survivor is in test/mutation/record.json, with its line, change and reason.

| reason | meaning |
| --- | --- |
| equivalent | The mutant behaves as the original does. |
| words only | Only the words of a message or the details of an error differ. |
| killed since | A test that is newer than the run finds it, or one finds it when it runs alone. |
| other | Times, listeners, what observers receive, and single cases. |
`;
