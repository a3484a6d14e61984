import type { Command } from 'commander';
import type { CommandContext, RunCommand } from '../../command.ts';
import type { ExitCode } from '../../exit-code.ts';
import { readNumber } from '../../input.ts';
import { openRunFinder } from './find-run.ts';

interface AgreementFlags {
  readonly variant?: string;
  readonly eval?: string;
  readonly by?: readonly string[];
  readonly minScore?: string;
}

/** `eval agreement`. */
export function addAgreement(group: Command, runCommand: RunCommand): void {
  group
    .command('agreement <run>')
    .description('how far evals agree with the people who have rated a run, and those with one another')
    .option('--variant <name>', 'one variant of a matrix alone')
    .option('--eval <id>', 'one eval alone')
    .option('--by <name>', 'one person alone; several times: these people', collect)
    .option('--min-score <number>', 'the least score of a person that counts as passed (default: 0.5)')
    .addHelpText('after', examples)
    .action(async (given: string, own: AgreementFlags, command: Command) => {
      await runCommand(command, async (context) => await showAgreement(given, own, context));
    });
}

function collect(name: string, names: readonly string[] = []): readonly string[] {
  return [...names, name];
}

async function showAgreement(
  given: string,
  { variant, eval: id, by, minScore }: AgreementFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { options, terminal } = context;
  const least = readNumber('--min-score', minScore);
  const source = await openRunFinder(context).open(given);
  const { loadResults } = await import('../../../runtime/runtime.ts');
  const { measureRatings, renderAgreement } = await loadResults();
  const agreement = await measureRatings(source, { variant, eval: id, by, minScore: least });
  const text = renderAgreement(agreement, terminal.stdout.columns);
  if (options.json) terminal.printJson(agreement);
  else if (text === '')
    terminal.printStderr('there are no ratings to compare; `signalbox eval rate` gives them');
  else terminal.print(text);
  return 0;
}

const examples = `
The run is the id of a kept run (see \`eval list\`), \`last\` or \`last~1\`, or a file of \`eval run --reporter jsonl=FILE\`. Ratings
that name an eval (\`eval rate --eval\`) are compared with its verdict, others with whether the case passed. A label that
is a verdict (pass, fail, yes, no, good, bad, true, false, 1, 0) counts before a score. Of a matrix each variant is
compared, and all together.

Examples:
  signalbox eval agreement last
  signalbox eval agreement last --eval polite --by mara --by ada
  signalbox eval agreement last --variant large/plain
  signalbox eval agreement last --json | jq '.evals.polite.people[].agreement.kappa'

Exit codes: 0 shown, also where there is nothing to compare; 2 wrong call, no such run, variant, eval or person,
or a store that fails.`;
