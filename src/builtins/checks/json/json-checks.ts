import type { Check } from '../check.ts';
import { jsonPath } from './json-path.ts';
import { jsonSchema } from './json-schema.ts';
import { jsonValid } from './json-valid.ts';

export const jsonChecks: readonly Check[] = [jsonValid, jsonSchema, jsonPath];
