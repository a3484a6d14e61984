import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import type { GatewayDocument } from '../../runtime/runtime.ts';
import { formatColumns } from './columns.ts';

/** What a gateway serves, and how clients are pointed at it. */
export function describeServing(
  url: string,
  { models, not_offered, keys_required }: GatewayDocument,
): string {
  const rows = models.map(({ name, provider, fallback, endpoints }) => [
    name,
    [provider, ...fallback].join(' → '),
    endpoints.join(' '),
  ]);
  const left = not_offered.map(({ provider, reason }) => `not offered: ${provider}, because ${reason}`);
  return [
    `Serving ${url}`,
    '',
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
