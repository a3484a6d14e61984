import { startUpstream, type UpstreamServer } from '../../gateway/upstream-server.ts';

/** An embeddings API on loopback with vectors for a few texts; other vectors come from text lengths. */
export interface EmbeddingApi extends UpstreamServer {
  readonly asked: string[][];
  /** Replaces the next answers: a status, or a change to the body. */
  next: ((body: EmbeddingsBody, texts: readonly string[]) => unknown)[];
}

export interface EmbeddingsBody {
  data: { object: 'embedding'; index: number; embedding: unknown }[];
  usage?: { prompt_tokens: number; total_tokens: number } | undefined;
}

export const refuse = (status: number, headers: Readonly<Record<string, string>> = {}) => ({
  status,
  headers,
});

export async function startEmbeddingApi(
  vectors: Readonly<Record<string, readonly number[]>> = {},
): Promise<EmbeddingApi> {
  const asked: string[][] = [];
  const api = { asked, next: [] as EmbeddingApi['next'] };
  const server = await startUpstream(async ({ body }, response) => {
    const { input } = JSON.parse(body);
    const texts: string[] = Array.isArray(input) ? input : [input];
    asked.push(texts);
    const whole: EmbeddingsBody = {
      data: texts.map((text, index) => ({
        object: 'embedding',
        index,
        embedding: vectors[text] ?? [text.length, 1],
      })),
      usage: { prompt_tokens: texts.length * 100, total_tokens: texts.length * 100 },
    };
    const given = api.next.shift()?.(whole, texts) ?? whole;
    const { status = 200, headers = {} } = given as Partial<ReturnType<typeof refuse>>;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(
      JSON.stringify(
        status === 200 ? { object: 'list', model: 'm', ...given } : { error: { message: 'no' } },
      ),
    );
  });
  return Object.assign(api, server);
}
