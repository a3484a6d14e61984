import { RuntimeError } from '../../../base/errors.ts';
import { type CommandContext, command, untilAborted } from '../../command.ts';
import { readWhole } from '../../input.ts';
import { findRun, isRunFile, openRunStores } from './find-run.ts';

export const viewCommand = command('view [runs...]', {
  about: 'serve the runs that are kept as pages, to look into, compare and rate',
  options: {
    '--port <number>': 'where it listens (default: 8788, or any that is free)',
    '--host <address>': ['a name of this machine', { default: '127.0.0.1' }],
  },
  examples: `
A run is the id of a kept run (see \`eval list\`), \`last\`, \`last~1\`, or a file of \`eval run --reporter jsonl=FILE\`. One
is shown first, two are compared; without any the list is. The address has a token that only this start knows: it is for
browsers of this machine, and nobody else gets in. Runs that are still going on show what they have.

Examples:
  signalbox eval view
  signalbox eval view last
  signalbox eval view main.jsonl last --port 9000
  signalbox eval view --json | head -1 | jq -r .url

Exit codes: 0 ended by Ctrl-C; 2 wrong call, no such run, a port that is taken, or a store that fails.`,
  isServer: true,
  run: async (context, { host, ...flags }, given) => {
    const { options, terminal, signal, invocation } = context;
    invocation.limitHeapGrowth();
    const port = readWhole('--port', flags.port, 0);
    if (port !== undefined && port > 65_535)
      throw new RuntimeError('USAGE', `--port is at most 65535, not ${port}`);
    const files = given.filter(isRunFile);
    const open: CommandContext['open'] = async (file, more) =>
      await context.open(file, { ...more, outlivesInterrupt: true });
    const areFiles = given.length > 0 && files.length === given.length;
    const runtimes = areFiles ? [] : await openRunStores({ ...context, open });
    const { loadResults, loadView } = await import('../../../runtime/runtime.ts');
    const { serveView, addressOfRun, idOfFile } = await loadView();
    const ids: string[] = [];
    for (const each of given) {
      const fileId = isRunFile(each) ? idOfFile(files.indexOf(each)) : undefined;
      if (fileId !== undefined) ids.push(fileId);
      else {
        const { runtime, id } = await findRun(runtimes, each);
        await runtime.evals.runs.open(id);
        ids.push(id);
      }
    }
    const { openRunFile } = await loadResults();
    for (const file of files) await openRunFile(file);
    const served = await serveView({ runtimes, files, host, port, userName: invocation.userName() });
    try {
      const [a, b, other] = ids;
      const compared = `/compare?${new URLSearchParams({ a: a ?? '', b: b ?? '' })}`;
      const isList = a === undefined || other !== undefined;
      const url = served.urlOf(isList ? '/' : b === undefined ? addressOfRun(a) : compared);
      if (options.json) terminal.printJson({ url });
      else terminal.print(`Runs of suites: ${url}\nCtrl-C ends it.`);
      await untilAborted(signal);
    } finally {
      await served.close();
    }
    return 0;
  },
});
