import type { ClientReply } from '../call/client-call.ts';

/** A reply for whoever asked. `cut` is called where its body breaks off; without it that body fails. */
export function toResponse({ status, headers, body }: ClientReply, cut?: () => void): Response {
  if (body instanceof Uint8Array) return new Response(new Uint8Array(body), { status, headers });
  const stream = cut !== undefined && body instanceof ReadableStream ? cutWhereItFails(body, cut) : body;
  return new Response(stream, { status, headers });
}

/** The adapter to Node's server prints what a body fails with, and tells it to the client. */
function cutWhereItFails(body: ReadableStream<Uint8Array>, cut: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch {
          cut();
          controller.close();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
