import { openTestGateway } from '../../gateway/open-gateway.ts';
import type { Call } from './endpoints.ts';
import { startUpstream, type Talk } from './upstream.ts';

export interface Told {
  readonly status: number;
  /** Headers and body; `[cut]` where the stream breaks off. */
  readonly text: string;
  readonly wasAsked: boolean;
}

/** A gateway with a hook. Each call chooses the behavior of its upstream. */
export interface Served extends AsyncDisposable {
  call(call: Call, talk: Talk | 'refuses'): Promise<Told>;
}

/** Longer than any limit of the gateway. */
const LIMIT_MS = 30_000;

export async function openServed(hook: string, script: string): Promise<Served> {
  const upstream = await startUpstream();
  const spec = [
    'state_store: {type: memory}',
    ...providersAt(upstream.url),
    'defaults: {grace_ms: 100}',
    `hooks: {guard: {hook: provider, ${hook}}}`,
    'gateway: {limits: {upstream_ms: 1000, idle_ms: 1000, answer_bytes: 1000000, held_bytes: 1000000}}',
  ].join('\n');
  const gateway = await openTestGateway(spec, { 'guard.sh': script });
  return {
    call: async (call, talk) => {
      upstream.talkWith(talk);
      const response = await within(gateway.post(call.path, call.body));
      const text = `${JSON.stringify([...response.headers])}\n${await within(bodyOf(response))}`;
      return { status: response.status, text, wasAsked: upstream.asked().length > 0 };
    },
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      upstream.close();
    },
  };
}

export function providersAt(url: string): readonly string[] {
  const heads = [
    'chat, type: openai-compatible',
    'responses, type: openai, additional_config: {api_mode: responses}',
    'messages, type: claude',
  ];
  const rest = `base_url: "${url}/v1", credential: {api_key: sk-upstream-1234}`;
  const lines = heads.map((head) => `  - {id: ${head}, model: m-${head.split(',')[0]}, ${rest}}`);
  return ['providers:', ...lines];
}

async function bodyOf(response: Response): Promise<string> {
  let text = '';
  try {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
  } catch {
    text += '[cut]';
  }
  return text;
}

async function within<Value>(work: Promise<Value>): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('it hangs')), LIMIT_MS);
  return await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
