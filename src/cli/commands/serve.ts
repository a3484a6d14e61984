import { availableParallelism } from 'node:os';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { versionOf } from '../../base/version.ts';
import type { GatewayDocument, Runtime, ServedGateway } from '../../runtime/runtime.ts';
import { type CommandContext, command, type OpenOptions, untilAborted } from '../command.ts';
import type { ExitCode } from '../exit-code.ts';
import { readWhole } from '../input.ts';
import { formatColumns } from '../show/columns.ts';
import { codeText, hintWithPage } from '../terminal.ts';
import { filesOf } from './agents.ts';

export const serveCommand = command('serve', {
  about: 'serve the models of the config over HTTP, behind its hooks',
  options: {
    '--listen <address>': 'HOST:PORT, instead of the address in the config; port 0 is any free port',
    '--processes <count>': [
      'how many processes answer; auto is one for each core (default: 1)',
      { default: '1' },
    ],
  },
  examples: `
Examples:
  signalbox serve
  signalbox serve --listen 127.0.0.1:9000
  signalbox serve --processes auto
  signalbox serve --listen 127.0.0.1:0 --json | head -1 | jq -r .url

SIGHUP reads the config again. After SIGTERM or Ctrl-C, calls in progress have spec.gateway.drain_ms to end.

More: docs/start/gateway.md, docs/guides/guard-any-client.md`,
  isServer: true,
  run: async (context, { listen, processes }) => {
    const { terminal, signal, invocation } = context;
    invocation.limitHeapGrowth();
    const count = processes === 'auto' ? availableParallelism() : (readWhole('--processes', processes) ?? 1);
    const most = Math.max(64, 4 * availableParallelism());
    if (count > most) throw new RuntimeError('USAGE', `--processes must be at most ${most}, not ${count}`);
    if (count > 1) return await serveTogether(context, { listen, count });
    const { loadServer } = await import('../../runtime/runtime.ts');
    const { serveRuntimes } = await loadServer();
    const surfaces = await openSurfaces(context, { hasResident: true });
    const served = await serveRuntimes({
      mounts: surfaces.mounts,
      open: () => openService(context, {}),
      listen,
      print: terminal.print,
    }).catch(async (thrown: unknown) => {
      await surfaces.close();
      throw thrown;
    });
    announce(context, { ...served, shown: surfaces.shownAt(served.url) });
    invocation.onHangup(() => void reload(context, served));
    await untilAborted(signal);
    const [cut] = await Promise.all([served.close(), surfaces.close()]);
    warnOfCuts(context, cut);
    return 0;
  },
});

interface ServeFlags {
  readonly listen: string | undefined;
  readonly count: number;
}

/** Starts the processes, or is one of them. */
async function serveTogether(context: CommandContext, flags: ServeFlags): Promise<ExitCode> {
  const { invocation, signal, terminal } = context;
  const { loadProcesses } = await import('../../runtime/runtime.ts');
  const { isClusterWorker, superviseGateway } = await loadProcesses();
  if (isClusterWorker()) return await serveShare(context, flags);
  const { newToken } = await import('../../console/serve.ts');
  const { program, argv } = invocation;
  const served = await superviseGateway({
    ...{ program, argv, count: flags.count, token: newToken() },
    ...{ print: terminal.print, report: terminal.printStderr },
    announce: (first) => announce(context, { ...first, count: flags.count }),
  }).catch((thrown: unknown) => {
    // The processes get the signal of a terminal too.
    if (!signal.aborted) throw thrown;
  });
  if (served === undefined) return 0;
  invocation.onHangup(() => void reload(context, served));
  try {
    await Promise.race([untilAborted(signal), served.failed]);
  } finally {
    warnOfCuts(context, await served.close());
  }
  return 0;
}

/** Serves as one of several processes, until its supervisor ends it. */
async function serveShare(context: CommandContext, { listen, count }: ServeFlags): Promise<ExitCode> {
  const { terminal, signal, invocation } = context;
  const { loadProcesses, loadServer } = await import('../../runtime/runtime.ts');
  const { GatewayShare } = await loadProcesses();
  const { openServing } = await loadServer();
  // The supervisor gets the signal of a terminal too.
  invocation.onHangup(() => {});
  const share = new GatewayShare(async (own, { place, token }) => {
    const { mounts, shownAt, close } = await openSurfaces(context, { hasResident: place === 1, token });
    const writeLog = (lines: string) => void (own.isQuiet || terminal.stderr.write(lines));
    const open = () => openService(context, { writeLog, wrap: (runtime) => own.wrap(runtime) });
    const print = (line: string) => own.print(line);
    const onEnd = () => own.noteEnd();
    const serving = openServing({ mounts, open, listen, print, processes: count, onEnd });
    const prepare = async () => {
      const prepared = await serving.prepare();
      limitStop(context, prepared.document);
      return prepared;
    };
    return { prepare, shownAt, close: async () => (await Promise.all([serving.close(), close()]))[0] };
  });
  await share.serve(signal);
  return 0;
}

const openService = async ({ options, open }: CommandContext, more: OpenOptions): Promise<Runtime> =>
  await open(options.config, { outlivesInterrupt: true, isService: true, hasMetrics: true, ...more });

/** What is served beside the models. `token` is that of the console. */
async function openSurfaces(
  context: CommandContext,
  { hasResident, token }: { readonly hasResident: boolean; readonly token?: string },
) {
  const { loadMetrics } = await import('../../runtime/runtime.ts');
  const { consoleMount } = await import('../../console/serve.ts');
  const identity = { userName: context.invocation.userName(), version: versionOf() };
  const page = consoleMount({ ...identity, ...(token !== undefined && { token }) });
  const metrics = (await loadMetrics()).metricsMount();
  const agents = await openAgents(context, hasResident);
  return {
    mounts: [page, metrics, agents.mount],
    shownAt: (url: string): Shown => ({
      ...{ console: page.addressAt(url), metrics: metrics.addressAt(url) },
      agents: agents.mount.addressAt(url),
    }),
    close: agents.close,
  };
}

type Shown = Readonly<Record<string, Place>>;

function announce(
  context: CommandContext,
  {
    url,
    document,
    shown,
    count = 1,
  }: Pick<ServedGateway, 'url' | 'document'> & { readonly shown: Shown; readonly count?: number },
): void {
  const { options, terminal } = context;
  limitStop(context, document);
  if (options.json) {
    const [page, metrics, agents] = [shown['console'], shown['metrics'], shown['agents']].map(urlOf);
    terminal.printJson({ url, console: page, metrics, agents, ...document });
    return;
  }
  const lines = Object.entries(shown).flatMap(([name, place]) => placeLines(name, place));
  const serving = count === 1 ? `Serving ${url}` : `Serving ${url} with ${count} processes`;
  terminal.print([serving, ...lines, '', describeServing(url, document)].join('\n'));
}

/** Limits what may block after the drain, such as a locked store. */
function limitStop({ options, invocation }: CommandContext, { drain_ms }: GatewayDocument): void {
  if (options.stopTimeout === undefined) invocation.stopWithin(drain_ms + AFTER_DRAIN_MS);
}

function warnOfCuts({ terminal }: CommandContext, cut: number): void {
  if (cut > 0) terminal.printStderr(`warning: ${cut} connections were cut`);
}

const AFTER_DRAIN_MS = 10_000;

/** Answers events of agents, by requests and on the socket that `signalbox hook` asks first. */
async function openAgents(context: CommandContext, hasResident: boolean) {
  const { invocation, options } = context;
  const { env } = invocation;
  const { openJudge, openResident } = await import('../resident/resident.ts');
  const { agentsMount, agentToken } = await import('../resident/http.ts');
  const files = filesOf(context);
  const judge = openJudge(context, files);
  try {
    const resident = hasResident ? await openResident(judge, { files, env }) : undefined;
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

async function reload({ terminal }: CommandContext, served: Pick<ServedGateway, 'reload'>): Promise<void> {
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
