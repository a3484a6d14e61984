import { presentedKey } from '../call/credential.ts';
import { toRefusal, toRefusalReply } from '../call/reply.ts';
import type { GatewayServices } from '../call/services.ts';
import type { Caller } from '../ports.ts';
import { type ClientHeaders, toHeaderMap } from '../upstream/headers.ts';
import type { OfferedModel } from '../upstream/upstream.ts';
import { RefusedCall } from '../wire/refusal.ts';
import { toResponse } from './response.ts';

/** `GET /v1/models`: the caller's models, as the SDK that asks reads them. */
export async function answerModels(request: Request, services: GatewayServices): Promise<Response> {
  return await answer(request, services, (caller, headers) => {
    const models = modelsOf(caller, services);
    return isAnthropic(headers) ? anthropicList(models) : openaiList(models);
  });
}

/** `GET /v1/models/NAME`. */
export async function answerModel(
  request: Request,
  name: string,
  services: GatewayServices,
): Promise<Response> {
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

/** Each name once. */
function modelsOf({ models }: Caller, services: GatewayServices): OfferedModel[] {
  const allowed = services.models.filter(({ name }) => models === undefined || models.includes(name));
  return allowed.filter(({ name }, index) => allowed.findIndex((other) => other.name === name) === index);
}

function isAnthropic(headers: ClientHeaders): boolean {
  return headers['anthropic-version'] !== undefined;
}

/** `models` is what Codex looks for; an empty list leaves it the ones that it knows. */
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

const unknownModel = {
  status: 404,
  code: 'model_not_found',
  message: 'There is no such model here.',
  param: 'model',
  isRetryable: false,
};
