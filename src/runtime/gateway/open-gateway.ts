import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isLoopbackName } from '../../base/text/url.ts';
import type { Path } from '../../base/yaml/document.ts';
import { configInvalid } from '../../base/yaml/problem.ts';
import type { Link } from '../../calls/hooks/gate.ts';
import { namesOf } from '../../calls/hooks/links.ts';
import type { DeclaredTools } from '../../calls/tool-call/agent-tool.ts';
import type { GatewayConfig, RuntimeConfig } from '../../config/config.ts';
import { formatListen, type ListenAddress } from '../../config/listen.ts';
import { consoleLinkOf, consoleUrlOf } from '../../config/mcp.ts';
import { identityOf } from '../../config/overlay/identity.ts';
import { readConfigDocument } from '../../config/overlay/read.ts';
import type { KeepCall } from '../../contract/decision.ts';
import type { Emit } from '../../contract/event.ts';
import type { Scrubber } from '../../contract/scrub.ts';
import { type AuditLogOptions, openAuditLog } from '../../gateway/audit/audit-log.ts';
import { createGuardedFetch, type Fetch } from '../../gateway/http/guarded-fetch.ts';
import { createRoutes, pathOf } from '../../gateway/http/routes.ts';
import type { FetchHandler } from '../../gateway/http/server.ts';
import { openHookSets } from '../../gateway/judge/provider-hooks.ts';
import { openToolJudge } from '../../gateway/judge/tool-judge.ts';
import { openAdmission } from '../../gateway/keys/admission.ts';
import { openMemo } from '../../gateway/memo/open-memo.ts';
import { openSeenMessages } from '../../gateway/memo/seen-messages.ts';
import type { Caller, FallbackWatch, GatewayServices, SeenMessages, ToolJudge } from '../../gateway/ports.ts';
import { HeldBytes } from '../../gateway/stream/stream-call.ts';
import { type Offer, offerModels } from '../../gateway/upstream/offered-models.ts';
import { createModelFinder, findReadiness, type OfferedModel } from '../../gateway/upstream/upstream.ts';
import { codecs } from '../../gateway/wire/codecs.ts';
import { BREAKER_FAILURES, BREAKER_PAUSE_MS, createBreaker } from '../../models/fallback.ts';
import { openChangeWaiter } from '../../pipelines/state/change-waiter.ts';
import type { HostEnv } from '../../process/env.ts';
import type { LazyStore } from '../lazy-store.ts';
import type { Rates } from '../stages/rates.ts';
import { signingKeyOf } from './audit.ts';
import type { GatewayDocument } from './document.ts';

export interface GatewayContext {
  readonly config: RuntimeConfig;
  readonly links: readonly Link[];
  readonly declared: DeclaredTools;
  readonly store: LazyStore;
  readonly env: HostEnv;
  readonly scrubber: Scrubber;
  readonly rates: Rates;
  readonly emit: Emit;
  readonly keepCall?: KeepCall | undefined;
  readonly print?: ((line: string) => void) | undefined;
  readonly address: ListenAddress;
  readonly processes: number;
}

export interface OpenGateway {
  readonly fetch: FetchHandler;
  guardFetch(inner: Fetch): Fetch;
  describe(): Promise<GatewayDocument>;
  leave(): void;
  close(): Promise<void>;
}

export async function openGateway(context: GatewayContext): Promise<OpenGateway> {
  const { config, links, env, scrubber, emit } = context;
  const { gateway } = config;
  requireHooks(config, links);
  const limits = shareOf(config, context.processes);
  const warn = (message: string) => emit({ type: 'note', name: 'gateway', level: 'warn', message });
  const requiresKeys = gateway.keys.required ?? !isLoopbackName(context.address.host);
  const admission = await openAdmission({
    store: config.stateStore,
    env,
    hookSets: gateway.hooks,
    isKeyRequired: requiresKeys ? true : gateway.keys.required,
  });
  for (const warning of admission.warnings) warn(warning);
  const audit = await openAudit(context, (error) => warn(error.message));
  const addSecrets = (secrets: readonly string[]) => scrubber.add(secrets);
  const offer = offerModels(config.providers, {
    env,
    folder: config.folder,
    config: gateway,
    codecs,
    addSecrets,
    rateOf: context.rates.of,
    streamsOf: context.rates.streamsOf,
  });
  for (const model of offer.models) for (const warning of fallbackWarnings(model)) warn(warning);
  for (const { provider, why } of offer.left) warn(`provider "${provider}" is not offered: ${why}`);
  for (const why of (await findReadiness(offer.models)).faults.values())
    warn(`${why}; its calls are refused`);
  const sets = openHookSets(links);
  const judges = await openJudges({ ...context, linksOf: (caller) => sets.of(caller).links });
  const services: GatewayServices = {
    ...{ config: gateway, models: offer.models, codecs, admission, audit, requiresKeys, emit },
    fallback: watchFallbacks(emit),
    modelOf: createModelFinder(offer.models),
    rules: {
      opaque: new Set(gateway.opaque),
      references: new Set(gateway.references),
      redactsEmbeddings: gateway.embeddings.redact,
      maxDepth: gateway.limits.depth,
    },
    heldBytes: new HeldBytes({ perStream: limits.heldBytes, inTotal: limits.totalHeldBytes }),
    tools: judges.tools,
    seen: judges.seen,
    keepCall: context.keepCall,
    hooksOf: sets.of,
    report: (thrown) => warn(toRuntimeError(thrown).message),
  };
  const routes = createRoutes(services);
  return {
    fetch: routes.fetch,
    guardFetch: (inner) => createGuardedFetch(services, inner),
    describe: async () => ({
      ...describeOffer(offer),
      ...describeSettings({ ...gateway, limits }, context.address),
      keys_required: requiresKeys,
      has_keys: await admission.hasKeys(),
    }),
    leave: routes.leave,
    close: async () => {
      await Promise.all([offer.close(), sets.close(), admission.close(), audit?.close(), judges.close()]);
    },
  };
}

/**
 * The limits of one of so many processes, which together never exceed those of the config. Throws CONFIG_INVALID for
 * what the processes would count separately.
 */
function shareOf(config: RuntimeConfig, processes: number): GatewayConfig['limits'] {
  const { file, overlays = [], stateStore, providers, gateway } = config;
  if (processes === 1) return gateway.limits;
  const share = (limit: number) => Math.floor(limit / processes);
  const [connections, totalHeldBytes] = [gateway.limits.connections, gateway.limits.totalHeldBytes].map(
    share,
  );
  const refuse = (path: Path, why: string, hint: string): never => {
    const place = readConfigDocument(file, overlays).keyPositionOf(['spec', ...path]);
    const key = path.map((each) => (typeof each === 'number' ? `[${each}]` : `.${each}`)).join('');
    const message = `${key.slice(1)}: ${why}`;
    throw configInvalid(file, [{ ...place, severity: 'error', message, hint }], hint);
  };
  const alone = 'Or serve with `--processes 1`.';
  if (stateStore.type === 'memory')
    refuse(['state_store'], `${processes} processes share no memory`, `Use sqlite or postgres. ${alone}`);
  for (const [index, { id, rateLimit, streams }] of providers.entries()) {
    const each = `each of ${processes} processes would count the calls of "${id}" for itself`;
    if (rateLimit !== undefined && stateStore.type !== 'postgres')
      refuse(['providers', index, 'rate_limit'], each, `Use \`state_store: {type: postgres}\`. ${alone}`);
    if (streams?.maxConcurrent !== undefined)
      refuse(['providers', index, 'stream_max_concurrent'], each, `Remove it. ${alone}`);
  }
  if (!connections || !totalHeldBytes) {
    const key = connections ? 'total_held_bytes' : 'connections';
    refuse(['gateway', 'limits', key], `it is less than one for each of ${processes} processes`, alone);
  }
  return { ...gateway.limits, connections: connections ?? 1, totalHeldBytes: totalHeldBytes ?? 1 };
}

function describeOffer({ models, left }: Offer) {
  return {
    models: models.map(({ name, provider, endpoints, fallbacks }) => ({
      name,
      provider: provider.id,
      fallback: fallbacks.map((each) => each.provider.id),
      endpoints: [...endpoints].map(pathOf),
    })),
    not_offered: left.map(({ provider, why }) => ({ provider, reason: why })),
  };
}

function describeSettings(
  { drainMs, limits }: Pick<GatewayConfig, 'drainMs' | 'limits'>,
  address: ListenAddress,
) {
  const { headersMs, requestMs, idleMs, connections } = limits;
  return {
    listen: formatListen(address),
    drain_ms: drainMs,
    limits: { headers_ms: headersMs, request_ms: requestMs, idle_ms: idleMs, connections },
  };
}

async function openAudit(
  { config: { gateway, stateStore }, scrubber, print, env }: GatewayContext,
  warn: AuditLogOptions['warn'],
) {
  const { audit } = gateway;
  if (audit === undefined) return undefined;
  const { required, content, keepMs, head, keyEnv } = audit;
  return await openAuditLog({
    ...{ store: stateStore, env, isRequired: required, keepsContent: content, keepMs },
    signingKey: signingKeyOf(keyEnv, env),
    head: head && { file: head.file, everyMs: head.everyMs, print: head.stdout ? print : undefined },
    ...{ scrubber, warn },
  });
}

/** Throws CONFIG_INVALID if `spec.gateway` names a hook that does not exist; calls would pass without it. */
function requireHooks({ file, gateway }: RuntimeConfig, links: readonly Link[]): void {
  const known = new Set(namesOf(links));
  const named = [...[...gateway.hooks.values()].flat(), ...gateway.judge.keys()];
  const missing = named.find((name) => !known.has(name));
  if (missing === undefined) return;
  throw new RuntimeError(
    'CONFIG_INVALID',
    `${file}: spec.gateway names the hook "${missing}", which does not exist`,
  );
}

function watchFallbacks(emit: Emit): FallbackWatch {
  const warn = (name: string, message: string) => emit({ type: 'note', name, level: 'warn', message });
  return {
    breaker: createBreaker(),
    onFallback: (from, to, why) => warn(from, `${why.replace(/\.$/, '')}; "${to}" is called instead`),
    onOpen: (id) =>
      warn(
        id,
        `it failed ${BREAKER_FAILURES} times in a row: for ${BREAKER_PAUSE_MS / 1000} s, other providers are called first`,
      ),
  };
}

function fallbackWarnings({ name, provider, fallbacks }: OfferedModel): string[] {
  const asked = new Set(fallbacks.map((each) => each.provider.id));
  const left = (provider.fallback ?? []).filter((id) => !asked.has(id));
  const unpriced = [provider, ...fallbacks.map((each) => each.provider)].filter(
    ({ pricing }) => pricing === undefined,
  );
  return [
    ...left.map(
      (id) =>
        `model "${name}": the fallback "${id}" of "${provider.id}" is not used: its API differs, or it cannot be used at all`,
    ),
    ...(asked.size > 0 && unpriced.length > 0 && unpriced.length <= asked.size
      ? [
          `model "${name}": keys with a budget may not call it, because ${unpriced.map(({ id }) => `"${id}"`).join(' and ')} of its providers has no pricing`,
        ]
      : []),
  ];
}

interface JudgesContext {
  readonly config: RuntimeConfig;
  readonly emit: Emit;
  readonly env: HostEnv;
  readonly store: LazyStore;
  readonly declared: DeclaredTools;
  readonly linksOf: (caller: Caller) => readonly Link[];
}

interface Judges {
  readonly tools: ToolJudge | undefined;
  readonly seen: SeenMessages | undefined;
  close(): Promise<void>;
}

async function openJudges(context: JudgesContext): Promise<Judges> {
  const { config, emit, env, store, declared, linksOf } = context;
  const { gateway, stateStore } = config;
  const judgesNew = [...gateway.judge.values()].includes('new');
  if (!gateway.tools.hooks && !judgesNew) return { tools: undefined, seen: undefined, close: async () => {} };
  const memo = await openMemo(stateStore, env);
  const { pending, holdMs } = gateway.tools;
  const judge = () =>
    openToolJudge({
      ...{ memo, declared, linksOf, emit, config: identityOf(config) },
      isDurable: stateStore.type !== 'memory',
      holdMs: pending === 'hold' ? holdMs : 0,
      openStore: store.open,
      openWaiter: openChangeWaiter,
      linkOf: (id) => consoleLinkOf(consoleUrlOf(config.console), 'inbox', id),
    });
  return {
    tools: gateway.tools.hooks ? judge() : undefined,
    seen: judgesNew ? openSeenMessages({ memo, judge: gateway.judge }) : undefined,
    close: memo.close,
  };
}
