import { toRuntimeError } from '../../base/errors.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { versionOf } from '../../base/version.ts';
import type { GatewayDocument, ServedGateway } from '../../runtime/runtime.ts';
import { type CommandContext, command, untilAborted } from '../command.ts';
import { formatColumns } from '../show/columns.ts';
import { codeText, hintWithPage } from '../terminal.ts';
import { filesOf } from './agents.ts';

export const serveCommand = command('serve', {
  about: 'serve the models of the config over HTTP, behind its hooks',
  options: {
    '--listen <address>': 'HOST:PORT, instead of the address in the config; port 0 is any free port',
  },
  examples: `
Examples:
  signalbox serve
  signalbox serve --listen 127.0.0.1:9000
  signalbox serve --listen 127.0.0.1:0 --json | head -1 | jq -r .url

SIGHUP reads the config again. After SIGTERM or Ctrl-C, calls in progress have spec.gateway.drain_ms to end.

More: docs/start/gateway.md, docs/guides/guard-any-client.md`,
  isServer: true,
  run: async (context, { listen }) => {
    const { options, terminal, signal, invocation, open } = context;
    invocation.limitHeapGrowth();
    const { loadMetrics, loadServer } = await import('../../runtime/runtime.ts');
    const { serveRuntimes } = await loadServer();
    const { consoleMount } = await import('../../console/serve.ts');
    const page = consoleMount({ userName: invocation.userName(), version: versionOf() });
    const metrics = (await loadMetrics()).metricsMount();
    const agents = await openAgents(context);
    const served = await serveRuntimes({
      mounts: [page, metrics, agents.mount],
      open: async () =>
        await open(options.config, { outlivesInterrupt: true, isService: true, hasMetrics: true }),
      listen,
      print: terminal.print,
    }).catch(async (thrown: unknown) => {
      await agents.close();
      throw thrown;
    });
    const { url, document } = served;
    // Limits what may block after the drain, such as a locked store.
    if (options.stopTimeout === undefined) invocation.stopWithin(document.drain_ms + AFTER_DRAIN_MS);
    const shown = {
      ...{ console: page.addressAt(url), metrics: metrics.addressAt(url) },
      agents: agents.mount.addressAt(url),
    };
    if (options.json)
      terminal.printJson({
        ...{ url, console: urlOf(shown.console), metrics: urlOf(shown.metrics) },
        ...{ agents: urlOf(shown.agents), ...document },
      });
    else {
      const lines = Object.entries(shown).flatMap(([name, place]) => placeLines(name, place));
      terminal.print([`Serving ${url}`, ...lines, '', describeServing(url, document)].join('\n'));
    }
    invocation.onHangup(() => void reload(context, served));
    await untilAborted(signal);
    const [cut] = await Promise.all([served.close(), agents.close()]);
    if (cut > 0) terminal.printStderr(`warning: ${cut} connections were cut`);
    return 0;
  },
});

const AFTER_DRAIN_MS = 10_000;

/** Answers events of agents, by requests and on the socket that `signalbox hook` asks first. */
async function openAgents(context: CommandContext) {
  const { invocation, options } = context;
  const { env } = invocation;
  const { openJudge, openResident } = await import('../resident/resident.ts');
  const { agentsMount, agentToken } = await import('../resident/http.ts');
  const files = filesOf(context);
  const judge = openJudge(context, files);
  try {
    const resident = await openResident(judge, { files, env });
    const level = options.logLevel ?? '';
    const mount = agentsMount({ judge, invocation, level, token: agentToken(env) });
    const close = async () => {
      await resident?.close();
      await judge.close();
    };
    return { mount, close };
  } catch (thrown) {
    const reason = toRuntimeError(thrown).message;
    const mount = { takes: () => false, open: async () => undefined, addressAt: () => ({ reason }) };
    return { mount, close: judge.close };
  }
}

type Place = { readonly url: string } | { readonly reason: string } | undefined;

function urlOf(place: Place): string | null {
  return place !== undefined && 'url' in place ? place.url : null;
}

function placeLines(name: string, place: Place): string[] {
  if (place === undefined) return [];
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return [escapeInvisible('url' in place ? `${title}: ${place.url}` : `No ${name}: ${place.reason}`)];
}

async function reload({ terminal }: CommandContext, served: ServedGateway): Promise<void> {
  try {
    const { models } = await served.reload();
    terminal.printStderr(`reloaded: ${formatCount(models.length, 'model')}`);
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    terminal.printStderr(
      `error: the config was not reloaded: ${codeText(error)}${escapeInvisible(error.message)}`,
    );
    if (error.hint !== '') terminal.printStderr(`hint: ${escapeInvisible(hintWithPage(error))}`);
  }
}

function describeServing(url: string, { models, not_offered, keys_required }: GatewayDocument): string {
  const rows = models.map(({ name, provider, fallback, endpoints }) => [
    name,
    [provider, ...fallback].join(' → '),
    endpoints.join(' '),
  ]);
  const left = not_offered.map(({ provider, reason }) => `not offered: ${provider}, because ${reason}`);
  return [
    ...(rows.length === 0 ? ['no model'] : [formatColumns(rows, undefined)]),
    ...left.map(escapeInvisible),
    '',
    'Point clients at it:',
    ...clientLines(url, keys_required),
    ...exampleOf(url, { models, keys_required }),
  ].join('\n');
}

function clientLines(url: string, isKeyed: boolean): string[] {
  const key = isKeyed ? 'sbx_…' : 'none';
  return [
    `  OpenAI SDKs       export OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=${key}`,
    `  Anthropic SDKs    export ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=${key}`,
    `  Claude Code       ANTHROPIC_BASE_URL=${url} ANTHROPIC_AUTH_TOKEN=${key} claude`,
    `  Codex             codex -c model_provider=signalbox -c 'model_providers.signalbox={name="signalbox", base_url="${url}/v1", wire_api="responses"}'`,
  ];
}

function exampleOf(
  url: string,
  { models, keys_required }: Pick<GatewayDocument, 'models' | 'keys_required'>,
): string[] {
  const path = '/v1/chat/completions';
  const model = models.find(({ endpoints }) => endpoints.includes(path));
  if (model === undefined) return [];
  const body = JSON.stringify({ model: model.name, messages: [{ role: 'user', content: 'Hello!' }] });
  const header = keys_required ? " -H 'authorization: Bearer sbx_…'" : '';
  return [
    '',
    'Try:',
    `  curl ${url}${path}${header} -H 'content-type: application/json' -d '${body.replaceAll("'", "'\\''")}'`,
  ];
}
