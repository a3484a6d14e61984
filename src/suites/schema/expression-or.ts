/** The pattern of a text that is an expression. */
export const expressionPattern = '^\\$\\{';

/** A value of that type, or an expression that gives one. */
export function expressionOr(
  type: 'object' | 'array' | 'integer' | 'number' | 'boolean',
  more: object,
  description: string,
): object {
  return { type: [type, 'string'], pattern: expressionPattern, ...more, description };
}

/** The bounds of a score in a schema. */
export const scoreRange = { minimum: 0, maximum: 1 } as const;
