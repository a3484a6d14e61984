import { versionOf } from '../../base/version.ts';
import { command, untilAborted } from '../command.ts';

export const consoleCommand = command('console', {
  about: 'serve a web page to see runs and decide the calls that wait',
  options: {
    '--listen <address>': 'HOST:PORT, instead of the address in the config; port 0 is any free port',
    '--open': 'open the page in a browser of this machine',
  },
  examples: `
Examples:
  signalbox console
  signalbox console --open
  signalbox console --listen 127.0.0.1:0 --json | head -1 | jq -r .url

Without a key that may read waiting calls, the printed address has a token that is new at each start. With such keys
(\`signalbox keys create NAME --role approver\`), the page asks for one, and decisions have its name. \`signalbox serve\`
shows the same page at /console.

More: docs/guides/use-the-console.md, docs/reference/http-api.md`,
  isServer: true,
  run: async ({ options, terminal, signal, invocation, open }, { listen, open: isOpened }) => {
    invocation.limitHeapGrowth();
    const runtime = await open(options.config, {
      outlivesInterrupt: true,
      isService: true,
      hasMetrics: true,
    });
    const { openInBrowser, serveConsole } = await import('../../console/serve.ts');
    const userName = invocation.userName();
    const served = await serveConsole(runtime, { listen, userName, version: versionOf() });
    try {
      if (options.json) terminal.printJson({ url: served.url });
      else terminal.print(`Console: ${served.url}\nCtrl-C ends it.`);
      if (isOpened === true && !(await openInBrowser(served.url, invocation.env)))
        terminal.printStderr('warning: no program was found to open the page; open the address by hand');
      await untilAborted(signal);
    } finally {
      await served.close();
    }
    return 0;
  },
});
