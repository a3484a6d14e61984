import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WireRules } from '../../../../src/gateway/wire/codec.ts';
import { messagesCodec } from '../../../../src/gateway/wire/messages/codec.ts';
import { answerBody, requestBody } from './arbitrary-bodies.ts';
import { asRead, expectedAfter, mapStrings, markersOf, redact, spellOddly, valuesOf } from './trees.ts';

const rules: WireRules = {
  opaque: new Set(['image', 'file']),
  references: new Set(),
  redactsEmbeddings: false,
};
const runs = { numRuns: 300 };

test('every text of a request is shown to hooks, wherever it is', () => {
  fc.assert(
    fc.property(requestBody, (body) => {
      const { payload } = messagesCodec.readRequest(spellOddly(body), rules);
      expect(markersOf(asRead(payload))).toEqual(markersOf(body));
    }),
    runs,
  );
});

test('a request that hooks allow is the same text', () => {
  fc.assert(
    fc.property(requestBody, (body) => {
      const text = spellOddly(body);
      const request = messagesCodec.readRequest(text, rules);
      expect(request.write(request.payload, request.model)).toBe(text);
      expect(request.write(asRead(request.payload), request.model)).toBe(text);
    }),
    runs,
  );
});

test('every text of an answer is shown to hooks, and what they allow is the same text', () => {
  const request = messagesCodec.readRequest('{"model":"m","max_tokens":1,"messages":[]}', rules);
  fc.assert(
    fc.property(answerBody, (body) => {
      const text = spellOddly(body);
      const answer = messagesCodec.readAnswer(text, rules, request);
      expect(markersOf(asRead(answer.messages))).toEqual(markersOf(body));
      expect(answer.write(asRead(answer.messages))).toBe(text);
    }),
    runs,
  );
});

test('what hooks redact in a request is gone, and only signed thinking is dropped with it', () => {
  fc.assert(
    fc.property(requestBody, (body) => {
      const request = messagesCodec.readRequest(spellOddly(body), rules);
      const { payload } = request;
      const read = asRead(payload);
      const changed = mapStrings(read, redact, false) as typeof read;
      const written: unknown = JSON.parse(request.write({ ...changed, tools: payload.tools }, 'm'));
      expect(markersOf(valuesOf(written))).toEqual([]);
      expect(mapStrings(written, redact)).toEqual(expectedAfter(body));
    }),
    runs,
  );
});

test('what hooks redact in an answer is gone, and only signed thinking is dropped with it', () => {
  const request = messagesCodec.readRequest('{"model":"m","max_tokens":1,"messages":[]}', rules);
  fc.assert(
    fc.property(answerBody, (body) => {
      const answer = messagesCodec.readAnswer(spellOddly(body), rules, request);
      const read = asRead(answer.messages);
      const changed = mapStrings(read, redact, false) as typeof read;
      const written: unknown = JSON.parse(answer.write(changed));
      expect(markersOf(valuesOf(written))).toEqual([]);
      expect(mapStrings(written, redact)).toEqual(expectedAfter(body));
    }),
    runs,
  );
});
