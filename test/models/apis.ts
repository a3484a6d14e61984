import type { LanguageModelV4 } from '@ai-sdk/provider';
import { onTestFinished } from 'vitest';
import type { ProviderConfig } from '../../src/config/config.ts';
import { canary } from '../canary.ts';
import { openModel } from './bench.ts';
import { type Fake, openFake, type Turn, type wires } from './wire/fake.ts';

/** Every kind of API that is called over HTTP, and a fake of it. */
export interface Api {
  readonly title: string;
  readonly wire: keyof typeof wires;
  readonly fields: Partial<ProviderConfig>;
}

export const apis: readonly Api[] = [
  { title: 'openai', wire: 'openai', fields: { type: 'openai' } },
  {
    title: 'openai (Responses)',
    wire: 'responses',
    fields: { type: 'openai', additionalConfig: { api_mode: 'responses' } },
  },
  { title: 'claude', wire: 'anthropic', fields: { type: 'claude' } },
  { title: 'gemini', wire: 'gemini', fields: { type: 'gemini' } },
  { title: 'openai-compatible', wire: 'openai', fields: { type: 'openai-compatible' } },
];

export function apiOf(title: string): Api {
  const api = apis.find((each) => each.title === title);
  if (api === undefined) throw new Error(`no API is called ${title}`);
  return api;
}

/** A model of that API, and a fake that plays the script and ends with the test. Its key is the canary. */
export async function play(
  api: Api,
  script: readonly Turn[],
  fields: Partial<ProviderConfig> = {},
): Promise<{ model: LanguageModelV4; fake: Fake }> {
  const fake = await openFake(api.wire, script);
  onTestFinished(() => fake.close());
  const model = await openModel({
    model: 'test-model',
    baseUrl: fake.url,
    credential: { apiKey: canary },
    ...api.fields,
    ...fields,
    additionalConfig: { retry_base_ms: 1, ...api.fields.additionalConfig, ...fields.additionalConfig },
  });
  return { model, fake };
}
