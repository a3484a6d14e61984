import type { Command } from 'commander';
import { RuntimeError } from '../../../base/errors.ts';
import { escapeInvisibleLine } from '../../../base/text/escape-invisible.ts';
import type { Rating, RatingPlace } from '../../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../../command.ts';
import type { ExitCode } from '../../exit-code.ts';
import { readNumber } from '../../input.ts';
import { type LocatedRun, openRunFinder } from './find-run.ts';
import { caseName, ratingText } from './rating-text.ts';

interface RateFlags {
  readonly case?: string;
  readonly variant?: string;
  readonly eval?: string;
  readonly score?: string;
  readonly label?: string;
  readonly comment?: string;
  readonly by?: string;
  readonly remove?: true;
  readonly list?: true;
}

/** `eval rate`. */
export function addRate(group: Command, runCommand: RunCommand): void {
  group
    .command('rate <run>')
    .description('keep what a person thinks of a case with its run')
    .option('--case <id>', 'the case')
    .option('--variant <name>', 'of which variant, in a run of several models or prompts')
    .option('--eval <id>', 'what one eval said of it, rather than the case as a whole')
    .option('--score <number>', 'from 0 to 1')
    .option('--label <text>', 'a word of your own, such as good or refusal')
    .option('--comment <text>', 'why: itself, @FILE, or - for stdin')
    .option('--by <name>', 'who rates (default: your user name)')
    .option('--remove', 'take your rating back')
    .option('--list', 'show the ratings of the run, or of the case')
    .addHelpText('after', examples)
    .action(async (given: string, own: RateFlags, command: Command) => {
      await runCommand(command, async (context) => await rate(given, own, context));
    });
}

async function rate(given: string, own: RateFlags, context: CommandContext): Promise<ExitCode> {
  const { score, says } = await readRating(own, context);
  if (own.list === true) return await list(given, own, context);
  if (own.case === undefined) {
    throw new RuntimeError('USAGE', 'no case is named', {
      hint: 'Give --case ID, or --list to see the ratings that there are.',
    });
  }
  const by = own.by ?? context.invocation.userName();
  const place = { case: own.case, variant: own.variant, eval: own.eval, by };
  const run = await openRunFinder(context).locate(given);
  if (own.remove === true) return await remove(run, place, context);
  const rating = await run.runtime.evals.runs.rate(run.id, { ...place, ...says, score });
  if (context.options.json) context.terminal.printJson({ run_id: run.id, rating });
  else context.terminal.print(ratingText(rating));
  return 0;
}

async function list(given: string, { case: id, variant }: RateFlags, context: CommandContext) {
  const run = await openRunFinder(context).locate(given);
  const source = await run.runtime.evals.runs.open(run.id);
  const { loadResults } = await import('../../../runtime/runtime.ts');
  const { requireVariant } = await loadResults();
  if (variant !== undefined) requireVariant(source.header, variant);
  const all = await Array.fromAsync(source.ratings?.(id) ?? []);
  const wanted = all.filter((each) => variant === undefined || each.variant === variant);
  return printRatings(run.id, wanted, context);
}

/** Throws USAGE for options that do not go together. */
async function readRating({ score, label, comment, remove, list }: RateFlags, { input }: CommandContext) {
  const isRating = score !== undefined || label !== undefined || comment !== undefined;
  if ((remove === true && list === true) || (isRating && (remove === true || list === true))) {
    throw new RuntimeError('USAGE', 'a rating is either given, or taken back, or listed', {
      hint: 'Give --score, --label and --comment, or --remove, or --list.',
    });
  }
  return {
    score: readNumber('--score', score),
    says: {
      label,
      comment: comment === undefined ? undefined : (await input.text('--comment', comment)).trimEnd(),
    },
  };
}

async function remove(
  { runtime, id }: LocatedRun,
  place: RatingPlace,
  { options, terminal }: CommandContext,
): Promise<ExitCode> {
  await runtime.evals.runs.unrate(id, place);
  const { eval: evalId, variant, ...rest } = place;
  const removed = { ...rest, ...(variant !== undefined && { variant }), eval: evalId ?? null };
  if (options.json) terminal.printJson({ run_id: id, removed });
  else terminal.print(`removed the rating of ${caseName(place)} by ${escapeInvisibleLine(place.by)}`);
  return 0;
}

function printRatings(
  id: string,
  ratings: readonly Rating[],
  { options, terminal }: CommandContext,
): ExitCode {
  const sorted = ratings.toSorted((one, other) => one.at.localeCompare(other.at));
  if (options.json) terminal.printJson({ run_id: id, ratings: sorted });
  else if (sorted.length === 0) terminal.printStderr('there are no ratings');
  else terminal.print(sorted.map(ratingText).join('\n'));
  return 0;
}

const examples = `
The run is the id of a kept run (see \`eval list\`), \`last\` or \`last~1\`. A person has one rating of a case, and one of each of its
evals: a second one takes the place of the first. In a matrix --variant says of which variant. Ratings stand in \`eval show RUN --case ID\` and in \`eval html RUN\`, and
go with the run when it is removed.

Examples:
  signalbox eval rate last --case refund-17 --score 0 --label wrong --comment "it refunds twice"
  signalbox eval rate last --case refund-17 --eval polite --score 1 --by mara
  signalbox eval rate last --case refund-17 --variant large/plain --score 0.5
  signalbox eval rate last --case refund-17 --remove
  signalbox eval rate last --list --json | jq '.ratings[] | [.case, .by, .score]'

Exit codes: 0 kept, removed or listed; 2 wrong call, no such run, case, variant, eval or rating, or a store that fails.`;
