import { setTimeout as sleep } from 'node:timers/promises';
import { chatAnswer, startUpstream } from '../upstream-server.ts';

/** An upstream that holds every answer until it is released, and counts the held answers. */
export async function startSlowUpstream() {
  let [now, most] = [0, 0];
  let open = Promise.withResolvers<void>();
  const server = await startUpstream(async (_request, response) => {
    now += 1;
    most = Math.max(most, now);
    await Promise.race([open.promise, new Promise((resolve) => response.once('close', resolve))]);
    await sleep(5);
    now -= 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(chatAnswer('hi')));
  });
  return {
    server,
    held: () => now,
    most: () => most,
    release: () => open.resolve(),
    hold: () => {
      open = Promise.withResolvers();
    },
  };
}
