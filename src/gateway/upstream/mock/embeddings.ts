import { createHash } from 'node:crypto';
import { isObject } from '../../../json/json.ts';
import { tryParse } from '../../../json/try-parse.ts';

/** `POST /v1/embeddings`: for each text a vector of eight numbers that are the same for the same text. */
export function embed(body: string, model: string): unknown {
  const request = tryParse(body);
  const { input, encoding_format: format } = isObject(request) ? request : {};
  const texts = Array.isArray(input) ? input : [input];
  const data = texts.map((text, index) => {
    const vector = vectorOf(String(text));
    const embedding = format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const tokens = texts.reduce<number>((sum, text) => sum + Math.ceil(String(text).length / 4), 0);
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** Of length 1. */
function vectorOf(text: string): Float32Array {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 8);
  const raw = [...bytes].map((byte) => byte - 127.5);
  const length = Math.hypot(...raw);
  return Float32Array.from(raw, (value) => value / length);
}
