import { execProperties, foreignNames, milliseconds } from './exec.ts';
import { picoclawImportProperties } from './foreign.ts';

const isOf = (dialect: string) => ({ properties: { dialect: { const: dialect } }, required: ['dialect'] });

/** One item of `spec.imports`. */
export const importSchema = {
  type: 'object',
  description: 'A file of hooks, a plugin’s folder, or a folder of chibi plugins.',
  additionalProperties: false,
  properties: {
    dialect: {
      type: 'string',
      enum: foreignNames,
      description:
        'Whose hooks they are. Without it, each rule of a file goes to the system whose form it has.',
    },
    file: {
      type: 'string',
      minLength: 1,
      description:
        'A settings file, a hooks.json, a plugin’s folder or PicoClaw’s config.json, relative to this file’s folder.',
    },
    plugins_dir: {
      type: 'string',
      minLength: 1,
      description: 'A folder of chibi plugins, relative to this file’s: all their tools and hooks.',
    },
    env: { ...execProperties.env, description: 'The `env` of every hook that is imported.' },
    timeout_ms: { ...milliseconds, description: 'The `timeout_ms` of every chibi plugin. Default: 30000.' },
    on_failure: {
      ...execProperties.on_failure,
      description: 'The `on_failure` of every hook that is imported.',
    },
    picoclaw: {
      type: 'object',
      description: 'What holds for all processes of a PicoClaw config.json.',
      additionalProperties: false,
      properties: picoclawImportProperties,
    },
  },
  allOf: [
    {
      if: isOf('chibi'),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['plugins_dir'], properties: { file: false } },
      else: { required: ['file'], properties: { plugins_dir: false, timeout_ms: false } },
    },
    { if: isOf('picoclaw'), else: { properties: { picoclaw: false } } },
  ],
} as const;
