import type { ReadCall } from '../stages.ts';
import { openStream } from '../stream/open-stream.ts';
import type { OpenedStream, StreamReport } from '../stream/stream-call.ts';
import { returnedHeaders } from '../upstream/headers.ts';
import type { UpstreamAnswer } from '../upstream/upstream.ts';
import type { SseEvent } from '../wire/sse.ts';
import { SseParser } from '../wire/sse-parser.ts';
import type { PassedRequest } from './before-call.ts';
import type { ClientReply } from './client-call.ts';
import { judgeOf } from './judge-whole.ts';
import { toBody } from './reply-stream.ts';
import { toDenialReply } from './stand-in.ts';
import { streamHeaders } from './stream-headers.ts';

/** Takes a streamed answer through the after_call hooks. Throws RefusedCall when it is stopped before it has begun. */
export async function judgeStream(
  call: ReadCall,
  passed: PassedRequest,
  answer: UpstreamAnswer,
): Promise<ClientReply> {
  const opened = await open(call, passed, answer);
  if (opened.kind === 'refused') {
    note(call, opened.report);
    return await toDenialReply(call, opened.refusal);
  }
  const { account, client } = call;
  const body = toBody(opened.chunks, {
    client,
    record: account.startRecord(),
    end: async (answer) => {
      const report = await opened.report;
      note(call, report);
      const { outcome, refusal } = report;
      const isFailed = outcome === 'failed' || outcome === 'aborted';
      await account.end({
        status: refusal?.status ?? 200,
        outcome: isFailed ? outcome : 'allowed',
        answer,
      });
    },
    report: call.services.report,
  });
  return { status: 200, headers: { ...returnedHeaders(answer.headers), ...streamHeaders }, body };
}

async function open(call: ReadCall, passed: PassedRequest, answer: UpstreamAnswer): Promise<OpenedStream> {
  const { services, client, request } = call;
  const { config, codecs, rules, heldBytes } = services;
  return await openStream(
    {
      codec: codecs[client.endpoint],
      rules,
      request,
      model: request.model,
      events: readEvents(answer, config.limits.heldBytes),
      judge: judgeOf(call, passed),
      isJudged: call.hooks.filters('after_call') || services.tools !== undefined,
      signal: client.signal,
      abandon: answer.discard,
    },
    {
      windowChars: config.stream === 'windowed' ? config.window : undefined,
      onDeny: config.onDeny,
      waitMs: WAIT_MS,
      heldBytes,
    },
  );
}

/** How long a client hears nothing: well below what clients and proxies wait. */
const WAIT_MS = 5000;

/** The decisions, figures and times of a stream. */
function note({ account }: ReadCall, { decisions, usage, times }: StreamReport): void {
  for (const decision of decisions) account.decided('after_call', decision);
  account.usage ??= usage;
  account.tookStream(times);
}

async function* readEvents({ body }: UpstreamAnswer, maxChars: number): AsyncGenerator<SseEvent> {
  const parser = new SseParser(maxChars);
  for await (const chunk of body) yield* parser.push(chunk);
  yield* parser.end();
}
