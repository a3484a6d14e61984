import { checksumNames, ownName } from '../../builtins/pii/own-pattern.ts';
import { scanPlaces } from '../../builtins/pii/settings.ts';

/** Settings of every signalbox-pii that the file starts. */
export const piiSchema = {
  type: ['object', 'null'],
  description: 'Settings of every `signalbox-pii` that this file starts; docs/pii.md tells of both.',
  additionalProperties: false,
  properties: {
    patterns: {
      type: ['array', 'null'],
      description: 'Kinds of personal data of your own, looked for beside those of `--entities`.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'pattern'],
        properties: {
          name: {
            type: 'string',
            pattern: ownName.source,
            description:
              'What stands in place of a value, in brackets; actions name it too. Capitals, digits and `_`.',
          },
          pattern: {
            type: 'string',
            minLength: 1,
            description:
              'A regular expression, of JavaScript without lookaround and back references, or of RE2 (`(?i)` for any case).',
          },
          context: {
            anyOf: [
              { type: 'string', minLength: 1 },
              { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
            ],
            description:
              'Words of which one must stand near a value, in the same line and in any case. Default: it needs none.',
          },
          checksum: {
            type: 'string',
            enum: checksumNames,
            description: 'Check digits that a value must have. Default: none.',
          },
        },
      },
    },
    scan: {
      type: ['array', 'null'],
      items: { type: 'string', enum: scanPlaces },
      description:
        'What is looked at: texts by who says them (tool: results), arguments of tools, definitions of tools, and the rest of a request’s body. Default: everything.',
    },
  },
} as const;
