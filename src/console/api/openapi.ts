import { evals } from './evals.ts';
import { guard } from './guard.ts';
import { pendings } from './pendings.ts';
import { runs } from './runs.ts';
import { type Declarations, type Endpoint, object, type Schema, text } from './schema.ts';
import { session } from './session.ts';

export const declarations: readonly Declarations[] = [session, pendings, runs, evals, guard];

const error = object({ error: object({ code: text, message: text }, { hint: text, path: text }) });

/** The API as OpenAPI 3.1. */
export function toOpenApi(): object {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [key, endpoint] of declarations.flatMap((each) => Object.entries(each))) {
    const [method = '', path = ''] = key.split(' ');
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(method, path, endpoint) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signalbox',
      version: '1',
      description: 'What the console shows and does. A credential has one of the scopes of an operation.',
    },
    servers: [{ url: '/api/v1' }],
    paths,
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'A key of `signalbox keys`, or an access token.',
        },
      },
      responses: { Error: { description: 'What went wrong.', ...contentOf('application/json', error) } },
    },
  };
}

function operationOf(method: string, path: string, endpoint: Endpoint): object {
  const { about, scopes, query, body, status = 200, response } = endpoint;
  const words = path.match(/\w+/g) ?? [];
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: text,
    })),
    ...Object.entries(query?.properties ?? {}).map(([name, schema]) => {
      const required = query?.required.includes(name) === true;
      return {
        name,
        in: 'query',
        required,
        ...('description' in schema && { description: schema.description }),
        schema,
      };
    }),
  ];
  const [type, schema] = 'stream' in response ? [response.stream, text] : ['application/json', response];
  return {
    operationId: [method.toLowerCase(), ...words].join('_'),
    description: about,
    security:
      scopes === 'none' ? [] : scopes.length === 0 ? [{ key: [] }] : scopes.map((key) => ({ key: [key] })),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, ...contentOf('application/json', body) } }),
    responses: {
      [status]: { description: descriptionOf(response), ...contentOf(type, schema) },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

function descriptionOf(schema: Schema): string {
  return 'description' in schema ? String(schema.description) : 'Done.';
}

function contentOf(type: string, schema: Schema): object {
  return { content: { [type]: { schema } } };
}
