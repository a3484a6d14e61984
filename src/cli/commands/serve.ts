import type { Command } from 'commander';
import { type RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/format-count.ts';
import type { ServedGateway } from '../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../command.ts';
import { describeServing } from '../show/serving.ts';
import { untilAborted } from '../until-aborted.ts';

/** `serve`. */
export function addServeCommand(program: Command, runCommand: RunCommand): void {
  program
    .command('serve')
    .description('serve the models of the config over HTTP, behind its hooks')
    .option('--listen <address>', 'HOST:PORT in the place of what the config says; port 0 is any free one')
    .addHelpText('after', examples)
    .action(async ({ listen }: { listen?: string }, command: Command) => {
      await runCommand(command, async (context) => await serve(context, listen), true);
    });
}

const examples = `
Examples:
  signalbox serve
  signalbox serve --listen 127.0.0.1:9000
  signalbox serve --listen 127.0.0.1:0 --json | head -1 | jq -r .url

SIGHUP reads the config again; SIGTERM and Ctrl-C end what runs within spec.gateway.drain_ms.`;

async function serve(context: CommandContext, listen: string | undefined): Promise<0> {
  const { options, terminal, signal, invocation, open } = context;
  invocation.limitHeapGrowth();
  const { loadServer } = await import('../../runtime/runtime.ts');
  const { serveRuntimes } = await loadServer();
  const served = await serveRuntimes({
    open: async () => await open(options.config, { outlivesInterrupt: true, isService: true }),
    listen,
    print: terminal.print,
  });
  const { url, document } = served;
  // What holds up the end once the drain is over, such as a locked store.
  if (options.stopTimeout === undefined) invocation.stopWithin(document.drain_ms + AFTER_DRAIN_MS);
  if (options.json) terminal.printJson({ url, ...document });
  else terminal.print(describeServing(url, document));
  invocation.onHangup(() => void reload(context, served));
  await untilAborted(signal);
  const cut = await served.close();
  if (cut > 0) terminal.printStderr(`warning: ${cut} connections were cut`);
  return 0;
}

const AFTER_DRAIN_MS = 10_000;

async function reload({ terminal }: CommandContext, served: ServedGateway): Promise<void> {
  try {
    const { models } = await served.reload();
    terminal.printStderr(`reloaded: ${formatCount(models.length, 'model')}`);
  } catch (thrown) {
    terminal.printStderr(describeRefusal(toRuntimeError(thrown)));
  }
}

function describeRefusal({ code, message, hint }: RuntimeError): string {
  const told = `error: the config was not reloaded: [${code}] ${escapeInvisible(message)}`;
  return hint === '' ? told : `${told}\nhint: ${escapeInvisible(hint)}`;
}
