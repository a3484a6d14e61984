import { type Context, Hono } from 'hono';
import { isLoopbackName } from '../../base/text/url.ts';
import { answerCall } from '../call/answer.ts';
import { toRefusal, toRefusalReply } from '../call/reply.ts';
import { presentedKey } from '../keys/admission.ts';
import type { Caller, GatewayServices } from '../ports.ts';
import {
  endpointNames,
  endpointPaths,
  findReadiness,
  type OfferedModel,
  toHeaderMap,
} from '../upstream/upstream.ts';
import type { ClientHeaders, EndpointName } from '../wire/codec.ts';
import { type Refusal, RefusedCall, refusal } from '../wire/refusal.ts';
import { headersOf, type NodeBindings, queryOf, toClientCall, toResponse } from './client-call.ts';

export function pathOf(endpoint: EndpointName): string {
  return `/v1${endpointPaths[endpoint]}`;
}

import type { FetchHandler } from './server.ts';

type Env = { readonly Bindings: NodeBindings };

interface Routes {
  readonly fetch: FetchHandler;
  leave(): void;
}

/** Creates the routes of a gateway. Any other path is 404, so nothing bypasses the hooks on its way upstream. */
export function createRoutes(services: GatewayServices): Routes {
  let hasLeft = false;
  const app = new Hono<Env>();
  // Runs before every route, including later routes and unknown paths.
  app.use(async ({ req, env }, next) => {
    const headers = headersOf(req.raw, env);
    const refusal = refuseOrigin(headers, services) ?? refuseUpgrade(headers);
    if (refusal === undefined) return await next();
    const reply = toRefusalReply(services.codecs[familyOf(req.path, headers)], refusal);
    return toResponse(
      refusal === noUpgrade ? { ...reply, headers: { ...reply.headers, ...overHttp } } : reply,
    );
  });
  for (const endpoint of endpointNames) {
    const codec = services.codecs[endpoint];
    app.post(pathOf(endpoint), async (context) => {
      const { raw } = context.req;
      try {
        if (hasLeft) return toResponse(toRefusalReply(codec, leaving));
        const client = toClientCall(raw, context.env, { endpoint, query: queryOf(raw.url, endpoint) });
        return toResponse(await answerCall(client, services));
      } catch (thrown) {
        return toResponse(toRefusalReply(codec, toRefusal(thrown)));
      }
    });
  }
  app.get('/v1/models', (context) => answerModels(context.req.raw, services));
  app.get('/v1/models/:model{.+}', (context) =>
    answerModel(context.req.raw, context.req.param('model'), services),
  );
  app.get('/healthz', () => plain(200, 'ok'));
  app.get('/readyz', async () => {
    if (hasLeft) return plain(503, 'shutting down');
    const { isServing, faults } = await findReadiness(services.models);
    // Lists only IDs, because anyone may call this.
    const unusable = [...faults.keys()].map((id) => `\nprovider "${id}" cannot be used`).join('');
    return isServing ? plain(200, `ready${unusable}`) : plain(503, `no model can be served${unusable}`);
  });
  app.get('/', () => plain(200, 'Signalbox gateway'));
  app.notFound(({ req }) => refuseRoute(req.path, services));
  app.onError((thrown, context: Context<Env>) => {
    services.report(thrown);
    return toResponse(toRefusalReply(services.codecs[familyOf(context.req.path)], toRefusal(thrown)));
  });
  return {
    fetch: (request, bindings) => app.fetch(request, bindings),
    leave: () => {
      hasLeft = true;
    },
  };
}

function plain(status: number, text: string): Response {
  return new Response(`${text}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

function refuseRoute(path: string, { codecs }: GatewayServices): Response {
  const allowed = allowedAt(path);
  const refusal: Refusal =
    allowed === undefined
      ? {
          ...unknownRoute,
          message: 'This endpoint does not exist here; docs/guides/guard-any-client.md lists the endpoints.',
        }
      : { ...wrongMethod, message: `This endpoint takes ${allowed} only.` };
  const reply = toRefusalReply(codecs[familyOf(path)], refusal);
  return toResponse(
    allowed === undefined ? reply : { ...reply, headers: { ...reply.headers, allow: allowed } },
  );
}

function allowedAt(path: string): string | undefined {
  if (endpointNames.some((endpoint) => pathOf(endpoint) === path)) return 'POST';
  return ['/', '/healthz', '/readyz', '/v1/models'].includes(path) ? 'GET, HEAD' : undefined;
}

function familyOf(path: string, headers: ClientHeaders = {}): EndpointName {
  const isAnthropic = path.startsWith('/v1/messages') || headers['anthropic-version'] !== undefined;
  return isAnthropic ? 'messages' : 'chat';
}

/** WebSockets are not supported. Codex falls back to HTTP at this status, but retries for seconds at any other. */
function refuseUpgrade({ upgrade }: ClientHeaders): Refusal | undefined {
  return /\bwebsocket\b/i.test(String(upgrade ?? '')) ? noUpgrade : undefined;
}

const noUpgrade: Refusal = refusal(
  426,
  'upgrade_refused',
  'The gateway has no WebSockets; send the call as a POST over HTTP.',
);

/** The headers of a 426 response. Source: RFC 9110, section 15.5.22. */
const overHttp = { upgrade: 'HTTP/1.1', connection: 'upgrade' };

const unknownRoute = { status: 404, code: 'not_found', isRetryable: false };
const wrongMethod = { status: 405, code: 'method_not_allowed', isRetryable: false };

const leaving: Refusal = refusal(503, 'shutting_down', 'The gateway is shutting down.', {
  retryAfter: 1,
  isRetryable: true,
});

/**
 * Protects local gateways without keys from web pages, which `origin` or, with DNS rebinding, the host name reveals.
 * With keys, any host name is allowed, because proxies choose it.
 */
function refuseOrigin(
  { origin, host }: ClientHeaders,
  { requiresKeys }: Pick<GatewayServices, 'requiresKeys'>,
): Refusal | undefined {
  if (requiresKeys) return undefined;
  if (origin !== undefined) return untrusted('A page in a browser cannot call a gateway without keys.');
  if (typeof host !== 'string' || isLoopbackName(host)) return undefined;
  return untrusted('Call a gateway without keys by the address of this machine only.');
}

function untrusted(message: string): Refusal {
  return refusal(403, 'untrusted_origin', message);
}

async function answerModels(request: Request, services: GatewayServices): Promise<Response> {
  return await answer(request, services, (caller, headers) => {
    const models = modelsOf(caller, services);
    return isAnthropic(headers) ? anthropicList(models) : openaiList(models);
  });
}

async function answerModel(request: Request, name: string, services: GatewayServices): Promise<Response> {
  return await answer(request, services, (caller, headers) => {
    const found = modelsOf(caller, services).find((model) => model.name === name);
    if (found === undefined) throw new RefusedCall(unknownModel);
    return isAnthropic(headers) ? anthropicModel(found) : openaiModel(found);
  });
}

async function answer(
  request: Request,
  services: GatewayServices,
  tell: (caller: Caller, headers: ClientHeaders) => unknown,
): Promise<Response> {
  const headers = toHeaderMap(request.headers);
  try {
    const caller = await services.admission.authenticate(presentedKey(headers, services.config.passThrough));
    return Response.json(tell(caller, headers));
  } catch (thrown) {
    const codec = services.codecs[isAnthropic(headers) ? 'messages' : 'chat'];
    return toResponse(toRefusalReply(codec, toRefusal(thrown)));
  }
}

function modelsOf({ models }: Caller, services: GatewayServices): OfferedModel[] {
  const allowed = services.models.filter(({ name }) => models === undefined || models.includes(name));
  return allowed.filter(({ name }, index) => allowed.findIndex((other) => other.name === name) === index);
}

function isAnthropic(headers: ClientHeaders): boolean {
  return headers['anthropic-version'] !== undefined;
}

/** Codex reads `models`. An empty list makes it use its built-in models. */
function openaiList(models: readonly OfferedModel[]) {
  return { object: 'list', data: models.map(openaiModel), models: [] };
}

function openaiModel({ name, provider }: OfferedModel) {
  return { id: name, object: 'model', created: 0, owned_by: provider.id };
}

function anthropicList(models: readonly OfferedModel[]) {
  const data = models.map(anthropicModel);
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

function anthropicModel({ name }: OfferedModel) {
  return { type: 'model', id: name, display_name: name, created_at: '1970-01-01T00:00:00Z' };
}

const unknownModel = refusal(404, 'model_not_found', 'There is no such model here.', { param: 'model' });
