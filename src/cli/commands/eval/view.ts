import { RuntimeError } from '../../../base/errors.ts';
import { versionOf } from '../../../base/version.ts';
import { type CommandContext, command, untilAborted } from '../../command.ts';
import { readWhole } from '../../input.ts';
import { findRun, isRunFile, openRunStores } from './find-run.ts';

export const viewCommand = command('view [runs...]', {
  about: 'serve stored runs as web pages, to read, compare and rate them',
  options: {
    '--port <number>': 'the port to listen on (default: 8788, or any free port)',
    '--host <address>': ['the address of this machine to listen on', { default: '127.0.0.1' }],
    '--open': 'open the page in a browser of this machine',
  },
  examples: `
A run is the id of a stored run (see \`eval list\`), \`last\`, \`last~1\`, or a file of \`eval run --reporter jsonl=FILE\`. With
one run, its page opens first; with two, their comparison; with none, the list. The printed address has a key that is
new at each start. Only browsers with the key get in. Runs in progress show the cases so far.

Examples:
  signalbox eval view
  signalbox eval view last
  signalbox eval view main.jsonl last --port 9000
  signalbox eval view --json | head -1 | jq -r .url

Exit codes: 0 ended by Ctrl-C; 2 wrong call, no such run, a port that is taken, or a store that fails.`,
  isServer: true,
  run: async (context, { host, open: isOpened, ...flags }, given) => {
    const { options, terminal, signal, invocation } = context;
    invocation.limitHeapGrowth();
    const port = readWhole('--port', flags.port, 0);
    if (port !== undefined && port > 65_535)
      throw new RuntimeError('USAGE', `--port must be at most 65535, not ${port}`);
    const files = given.filter(isRunFile);
    const open: CommandContext['open'] = async (file, more) =>
      await context.open(file, { ...more, outlivesInterrupt: true });
    const areFiles = given.length > 0 && files.length === given.length;
    const runtimes = areFiles ? [] : await openRunStores({ ...context, open });
    const { loadResults, loadShelf } = await import('../../../runtime/runtime.ts');
    const { idOfFile, openShelf } = await loadShelf();
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
    const { openInBrowser, serveEvals } = await import('../../../console/serve.ts');
    const userName = invocation.userName();
    const shelf = openShelf({ runtimes, files });
    const served = await serveEvals(shelf, { host, port, userName, version: versionOf() });
    try {
      const [a, b, other] = ids;
      const compared = `/compare?${new URLSearchParams({ a: a ?? '', b: b ?? '' })}`;
      const isList = a === undefined || other !== undefined;
      const place = isList ? '' : b === undefined ? `/${encodeURIComponent(a)}` : compared;
      const url = served.url.replace('#', `/evals${place}#`);
      if (options.json) terminal.printJson({ url });
      else terminal.print(`Runs of suites: ${url}\nCtrl-C ends it.`);
      if (isOpened === true && !(await openInBrowser(url, invocation.env)))
        terminal.printStderr('warning: no program was found to open the page; open the address by hand');
      await untilAborted(signal);
    } finally {
      await served.close();
    }
    return 0;
  },
});
