import { scopes } from '../../contract/caller.ts';
import { type Declarations, flag, input, list, nullable, object, text } from './schema.ts';

export const sections = ['inbox', 'runs', 'evals', 'guard'] as const;
export const changeKinds = ['pendings', 'runs', 'suites'] as const;

export const session = {
  'GET /me': {
    about: 'Who the credential belongs to, and what is there to see.',
    scopes: [],
    response: object({
      id: text,
      name: text,
      scopes: list({ type: 'string', enum: scopes }),
      sections: list({ type: 'string', enum: sections }),
      runtime: nullable(object({ name: text, config: text })),
      version: text,
      records: object({ decisions: flag, content: flag, audit: flag }),
    }),
  },
  'GET /changes': {
    about:
      'Says what may have changed: first all `kinds`, then those that did. Lines are `{"kinds": […]}`; an empty line every 15 seconds shows that the connection is alive.',
    scopes: ['pendings:read', 'runs:read'],
    query: input({
      kinds: {
        type: 'string',
        pattern: `^(${changeKinds.join('|')})(,(${changeKinds.join('|')}))*$`,
        description: `Kinds with commas: ${changeKinds.join(', ')}.`,
      },
    }),
    response: { stream: 'application/x-ndjson', description: 'JSON lines, until the server leaves.' },
  },
  'GET /openapi.json': {
    about: 'This description of the API, as OpenAPI 3.1.',
    scopes: 'none',
    response: { type: 'object', description: 'An OpenAPI 3.1 document.' },
  },
} as const satisfies Declarations;
