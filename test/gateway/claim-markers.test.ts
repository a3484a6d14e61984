import { expect, test } from 'vitest';
import type { EndpointCodec } from '../../src/gateway/wire/codec.ts';
import { codecs } from '../../src/gateway/wire/codecs.ts';
import { findLeaks, shapedEndpoints } from './claim/markers/find-leaks.ts';

// A sample. claim.slow.test.ts runs as many documents as CLAIM_CASES says.

test('a text anywhere in a body is shown to filters or refused', { timeout: 240_000 }, async () => {
  expect(await findLeaks({ seed: 1, count: 10_000, endpoints: shapedEndpoints })).toEqual({
    ran: 10_000,
    leaked: 0,
    leaks: [],
  });
});

test('the claim finds a codec that hides other members of an answer from filters', async () => {
  const { responses } = codecs;
  const weak: EndpointCodec = {
    ...responses,
    readAnswer: (body, rules, request) => {
      const answer = responses.readAnswer(body, rules, request);
      const messages = answer.messages.map(({ other: _, ...message }) => ({
        ...message,
        role: message.role,
        content: message.content,
      }));
      return { ...answer, body, messages, write: () => body };
    },
  };
  const { leaked } = await findLeaks({ seed: 1, count: 300, endpoints: ['responses'], codec: weak });
  expect(leaked).toBeGreaterThan(10);
});
