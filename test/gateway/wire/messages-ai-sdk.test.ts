import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { expect, test } from 'vitest';
import { serveTestGateway } from '../http/serve-gateway.ts';
import { message, startMessagesUpstream, text } from '../upstreams/messages-upstream.ts';

const allow = '#!/bin/sh\ncat > /dev/null\necho \'{"allow": true}\'\n';
const signature = Buffer.from(new Uint8Array(90).fill(0xfe)).toString('base64');
const asks = message(
  [
    { type: 'thinking', thinking: 'I need the weather.', signature },
    text('Let me look.'),
    { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { place: 'Paris' } },
    { type: 'tool_use', id: 'toolu_2', name: 'weather', input: { place: 'Rome' } },
  ],
  { stop_reason: 'tool_use' },
);
const says = message([text('It is sunny in both.')]);

type Model = ReturnType<ReturnType<typeof createAnthropic>>;

const tools = {
  weather: tool({
    description: 'The weather of a place.',
    inputSchema: jsonSchema<{ place: string }>({
      type: 'object',
      properties: { place: { type: 'string' } },
      required: ['place'],
    }),
    execute: ({ place }) => `sunny in ${place}`,
  }),
};
const prompt = 'What is the weather in Paris and Rome?';

const scenes: Readonly<Record<string, (model: Model) => Promise<unknown>>> = {
  generateText: async (model) => {
    const {
      text: said,
      finishReason,
      steps,
    } = await generateText({ model, prompt, tools, maxOutputTokens: 1000, stopWhen: stepCountIs(3) });
    return { said, finishReason, steps: steps.map(({ content, usage }) => ({ content, usage })) };
  },
  streamText: async (model) => {
    const result = streamText({ model, prompt, tools, maxOutputTokens: 1000, stopWhen: stepCountIs(3) });
    const said = await result.text;
    const steps = await result.steps;
    return {
      said,
      steps: steps.map(({ content, usage, finishReason }) => ({ content, usage, finishReason })),
    };
  },
};

async function play(run: (model: Model) => Promise<unknown>, gateway: string | undefined) {
  await using upstream = await startMessagesUpstream((_, count) => ({ message: count === 0 ? asks : says }));
  await using server =
    gateway === undefined
      ? undefined
      : await serveTestGateway(
          `
state_store: {type: memory}
providers: [{id: main, type: anthropic, model: claude-test, base_url: "${upstream.url}", credential: {api_key: sk-ant-test}}]
hooks:
  allow: {command: ./allow.sh, hook: provider}
gateway: ${gateway}`,
          { 'allow.sh': allow },
        );
  const anthropic = createAnthropic({ baseURL: `${server?.url ?? upstream.url}/v1`, apiKey: 'sk-ant-test' });
  const result: unknown = JSON.parse(JSON.stringify(await run(anthropic('claude-test'))));
  return { result, seen: upstream.seen.map(({ url, body }) => ({ url, body })) };
}

test.each(
  Object.entries(scenes).flatMap(([name, run]) =>
    ['{}', '{stream: windowed}'].map((gateway) => ({ name, run, gateway })),
  ),
)('$name of the AI SDK behaves through a gateway as it does directly: $gateway', async ({ run, gateway }) => {
  const direct = await play(run, undefined);
  expect(direct.seen).toHaveLength(2);
  expect(await play(run, gateway)).toEqual(direct);
});
