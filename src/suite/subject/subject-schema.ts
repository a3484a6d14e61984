import { chatSchema } from '../../pipeline/file/schema.ts';

/** What makes the answers that a suite judges, as a JSON Schema. */
export const subjectSchema = {
  type: 'object',
  description:
    'Makes the text that is judged, anew for each case: exactly one of tool, chat and pipeline. Its expressions see the row as `case`, and the number of the run of the case as `epoch`. Without a subject the text is recorded in the row.',
  additionalProperties: false,
  oneOf: ['tool', 'chat', 'pipeline'].map((key) => ({ type: 'object', required: [key] })),
  properties: {
    tool: {
      type: 'string',
      minLength: 1,
      description: 'A tool of the runtime, called with all its hooks; its result is judged.',
    },
    args: {
      type: ['object', 'string'],
      description: 'Of a tool: the arguments. Default: none.',
    },
    chat: {
      ...chatSchema,
      description:
        'A conversation with a model of the runtime, with the keys of a pipeline’s chat; the final answer is judged.',
    },
    pipeline: {
      type: 'string',
      minLength: 1,
      description:
        'A Pipeline file, relative to this file, run by the runtime of the suite; its output is judged.',
    },
    input: { description: 'Of a pipeline: its input. Default: `{}`.' },
    cache: {
      type: 'boolean',
      description:
        'Whether an answer is kept, and used again while nothing that made it has changed. Default: false; the command line has the last word.',
    },
  },
} as const;
