import { createRequire } from 'node:module';
import type { Ajv, Options } from 'ajv';

export type Draft = 'draft-07' | '2019-09' | '2020-12';

/** Returns undefined for a `$schema` that ajv does not know. */
export function draftOf(name: string): Draft | undefined {
  if (name.includes('2020-12')) return '2020-12';
  if (name.includes('2019-09')) return '2019-09';
  return /draft-0[67]/.test(name) ? 'draft-07' : undefined;
}

/** Sets draft-07 where `$schema` is absent, for a schema from a system that reads draft-07. */
export function asDraft07(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { $schema: 'http://json-schema.org/draft-07/schema#', ...schema };
}

/** A compiler for users' schemas. Loads ajv on first use of each draft, since most commands need none. */
export function openAjv(draft: Draft, options: Options): Ajv {
  if (draft === '2020-12') {
    const { Ajv2020 }: typeof import('ajv/dist/2020.js') = load('ajv/dist/2020.js');
    return new Ajv2020(options);
  }
  if (draft === '2019-09') {
    const { Ajv2019 }: typeof import('ajv/dist/2019.js') = load('ajv/dist/2019.js');
    return new Ajv2019(options);
  }
  const { Ajv: Ajv07 }: typeof import('ajv') = load('ajv');
  return new Ajv07(options);
}

export function addFormats(ajv: Ajv): void {
  const formats: typeof import('ajv-formats') = load('ajv-formats');
  formats.default(ajv);
}

const load = createRequire(import.meta.url);
