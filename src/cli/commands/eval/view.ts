import type { Command } from 'commander';
import { RuntimeError } from '../../../base/errors.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../../command.ts';
import { readWhole } from '../../input.ts';
import { untilAborted } from '../../until-aborted.ts';
import { findRun, isRunFile, openRunStores } from './find-run.ts';

interface ViewFlags {
  readonly port?: string;
  readonly host: string;
}

/** `eval view`. */
export function addView(group: Command, runCommand: RunCommand): void {
  group
    .command('view [runs...]')
    .description('serve the runs that are kept as pages, to look into, compare and rate')
    .option('--port <number>', 'where it listens (default: 8788, or any that is free)')
    .option('--host <address>', 'a name of this machine', '127.0.0.1')
    .addHelpText('after', examples)
    .action(async (given: string[], own: ViewFlags, command: Command) => {
      await runCommand(command, async (context) => await view(given, own, context), true);
    });
}

async function view(given: readonly string[], own: ViewFlags, context: CommandContext): Promise<0> {
  const { options, terminal, signal, invocation } = context;
  invocation.limitHeapGrowth();
  const port = readPort(own.port);
  const files = given.filter(isRunFile);
  const runtimes = await openStores(given, files, context);
  const { loadView } = await import('../../../runtime/runtime.ts');
  const { serveView, addressOfRun, idOfFile } = await loadView();
  const ids: string[] = [];
  for (const each of given) {
    const id = isRunFile(each) ? idOfFile(files.indexOf(each)) : undefined;
    ids.push(id ?? (await requireRun(runtimes, each)));
  }
  await requireFiles(files);
  const served = await serveView({
    ...{ runtimes, files, host: own.host, port, userName: invocation.userName() },
  });
  try {
    const url = served.urlOf(firstPage(ids, addressOfRun));
    if (options.json) terminal.printJson({ url });
    else terminal.print(`Runs of suites: ${url}\nCtrl-C ends it.`);
    await untilAborted(signal);
  } finally {
    await served.close();
  }
  return 0;
}

/** The id of a run that is there. */
async function requireRun(runtimes: readonly Runtime[], given: string): Promise<string> {
  const { runtime, id } = await findRun(runtimes, given);
  await runtime.evals.runs.open(id);
  return id;
}

/** Throws FILE_UNREADABLE for a file that is none of a run. */
async function requireFiles(files: readonly string[]): Promise<void> {
  const { loadResults } = await import('../../../runtime/runtime.ts');
  const { openRunFile } = await loadResults();
  for (const file of files) await openRunFile(file);
}

/** None are needed for files alone. */
async function openStores(
  given: readonly string[],
  files: readonly string[],
  context: CommandContext,
): Promise<readonly Runtime[]> {
  if (given.length > 0 && files.length === given.length) return [];
  const { open } = context;
  return await openRunStores({
    ...context,
    open: async (file, more) => await open(file, { ...more, outlivesInterrupt: true }),
  });
}

/** One run is shown, two are compared, of others there is the list. */
function firstPage(ids: readonly string[], addressOfRun: (id: string) => string): string {
  const [a, b, other] = ids;
  if (a === undefined || other !== undefined) return '/';
  return b === undefined ? addressOfRun(a) : `/compare?${new URLSearchParams({ a, b })}`;
}

function readPort(given: string | undefined): number | undefined {
  const port = readWhole('--port', given, 0);
  if (port === undefined || port <= 65_535) return port;
  throw new RuntimeError('USAGE', `--port is at most 65535, not ${port}`);
}

const examples = `
A run is the id of a kept run (see \`eval list\`), \`last\`, \`last~1\`, or a file of \`eval run --reporter jsonl=FILE\`. One
is shown first, two are compared; without any the list is. The address has a token that only this start knows: it is for
browsers of this machine, and nobody else gets in. Runs that are still going on show what they have.

Examples:
  signalbox eval view
  signalbox eval view last
  signalbox eval view main.jsonl last --port 9000
  signalbox eval view --json | head -1 | jq -r .url

Exit codes: 0 ended by Ctrl-C; 2 wrong call, no such run, a port that is taken, or a store that fails.`;
