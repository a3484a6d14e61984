import { foreignDialects, foreignNames } from '../../dialects/registry.ts';
import { execProperties } from './exec.ts';

const isOf = (dialect: string) => ({ properties: { dialect: { const: dialect } }, required: ['dialect'] });

/** The rules for a dialect whose imports are folders of plugins, and for keys that only one dialect has. */
const dialectRules = foreignNames.flatMap((name): object[] => {
  const { entry, plugins } = foreignDialects[name];
  const forbidden = Object.fromEntries(Object.keys(entry.importProperties ?? {}).map((key) => [key, false]));
  if (plugins !== undefined) {
    const then = { required: [plugins.folderKey], properties: { file: false } };
    return [{ if: isOf(name), then, else: { properties: forbidden } }];
  }
  return entry.importProperties === undefined ? [] : [{ if: isOf(name), else: { properties: forbidden } }];
});

const folderDialects = foreignNames.filter((name) => foreignDialects[name].plugins !== undefined);

/** One item of `spec.imports`. */
export const importSchema = {
  type: 'object',
  description: 'A file of hooks, a plugin’s folder, or a folder of plugins that describe themselves.',
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
        'A settings file, a hooks.json, a plugin’s folder or a config.json, relative to this file’s folder.',
    },
    env: { ...execProperties.env, description: 'The `env` of every hook that is imported.' },
    sandbox: {
      ...execProperties.sandbox,
      description: 'The `sandbox` of every hook and tool that is imported.',
    },
    on_failure: {
      ...execProperties.on_failure,
      description: 'The `on_failure` of every hook that is imported.',
    },
    ...Object.fromEntries(
      foreignNames.flatMap((name) => Object.entries(foreignDialects[name].entry.importProperties ?? {})),
    ),
  },
  allOf: [
    {
      if: { properties: { dialect: { enum: folderDialects } }, required: ['dialect'] },
      else: { required: ['file'] },
    },
    ...dialectRules,
  ],
} as const;
