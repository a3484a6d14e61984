import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { apis, play } from './apis.ts';
import { openScript } from './bench.ts';

const lookup = tool({
  description: 'Finds an order.',
  inputSchema: jsonSchema<{ order: number }>({ type: 'object', properties: { order: { type: 'integer' } } }),
  execute: async ({ order }) => `order ${order} is on its way`,
});

const turns = [{ toolCalls: [{ name: 'lookup', args: { order: 7 } }] }, { text: ['It is ', 'on its way.'] }];

// With a limit: Anthropic's package warns if it does not know the model's own.
const asked = { prompt: 'Where is it?', tools: { lookup }, stopWhen: stepCountIs(3), maxOutputTokens: 99 };

describe('the AI SDK runs two rounds', () => {
  test.each(apis)('with $title', async (api) => {
    const { model, fake } = await play(api, [...turns, ...turns]);
    const settings = { ...asked, model };
    const generated = await generateText(settings);
    const streamed = streamText(settings);
    expect([generated.text, await streamed.text]).toStrictEqual(['It is on its way.', 'It is on its way.']);
    expect(fake.requests).toHaveLength(4);
    expect(fake.requests[1]?.text).toContain('order 7 is on its way');
  });

  test('with a mock', async () => {
    const model = await openScript([
      { when: 'round == 1', repeat: true, tool_calls: [{ name: 'lookup', args: { order: 7 } }] },
      { text: 'I read: ${messages[2].content}.' },
    ]);
    const settings = { ...asked, model };
    const texts = [(await generateText(settings)).text, await streamText(settings).text];
    expect(texts).toStrictEqual(Array(2).fill('I read: order 7 is on its way.'));
  });
});
