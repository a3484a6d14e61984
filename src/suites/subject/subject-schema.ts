import { chatSchema } from '../../pipelines/file/schema.ts';
import { mostVariants } from '../variants.ts';

const chat: object = chatSchema;
const { provider, system, messages } = chatSchema.properties;

const name = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
} as const;

/** A chat of a suite: one provider and prompt, or several, each pair of which is a variant. */
const chatOrMatrix: object = {
  ...chatSchema,
  required: ['provider'],
  description:
    'A conversation with a model of the runtime, with the keys of a pipeline’s chat; the final answer is judged. With several providers or prompts each pair of them is a variant.',
  properties: {
    ...chatSchema.properties,
    provider: {
      type: ['string', 'array'],
      minLength: 1,
      minItems: 1,
      maxItems: mostVariants,
      uniqueItems: true,
      items: provider,
      description:
        'The id of a provider of the runtime; or several, of which each is a variant that answers every case.',
    },
    prompts: {
      type: 'array',
      minItems: 1,
      maxItems: mostVariants,
      description: 'Variants of the prompt, each of which answers every case.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: {
            ...name,
            description: 'Names the variant, behind that of its provider if there are several.',
          },
          system: { ...system, description: 'The system prompt. Default: that of the chat.' },
          messages: { ...messages, description: 'The conversation. Default: that of the chat.' },
        },
      },
    },
  },
};

const tool = {
  type: 'string',
  minLength: 1,
  description: 'A tool of the runtime, called with all its hooks; its result is judged.',
} as const;

const args = {
  type: ['object', 'string'],
  description: 'Of a tool: the arguments. Default: none.',
} as const;

const pipeline = {
  type: 'string',
  minLength: 1,
  description:
    'A Pipeline file, relative to this file, run by the runtime of the suite; its output is judged.',
} as const;

const input = { description: 'Of a pipeline: its input. Default: `{}`.' } as const;

function exactlyOne(keys: readonly string[]) {
  return keys.map((key) => ({ type: 'object', required: [key] }));
}

/** What makes the answers that a suite judges, as a JSON Schema. */
export const subjectSchema = {
  type: 'object',
  description:
    'Makes the text that is judged, anew for each case: exactly one of tool, chat, pipeline and variants. Its expressions see the row as `case`, and the number of the run of the case as `epoch`. Without a subject the text is recorded in the row.',
  additionalProperties: false,
  oneOf: exactlyOne(['tool', 'chat', 'pipeline', 'variants']),
  properties: {
    ...{ tool, args, chat: chatOrMatrix, pipeline, input },
    variants: {
      type: 'array',
      minItems: 1,
      maxItems: mostVariants,
      description: 'Several subjects of any kind, each of which answers every case.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        oneOf: exactlyOne(['tool', 'chat', 'pipeline']),
        properties: {
          name: { ...name, description: 'Names the variant in reports and gates.' },
          ...{ tool, args, chat, pipeline, input },
        },
      },
    },
    cache: {
      type: 'boolean',
      description:
        'Whether an answer is kept, and used again while nothing that made it has changed. Default: false; the command line has the last word.',
    },
  },
} as const;
