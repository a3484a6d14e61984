/** What an expression begins with. */
export const expressionPattern = '^\\$\\{';

/** A value of that type, or an expression that gives one. */
export function textOr(
  type: 'object' | 'array' | 'integer' | 'number' | 'boolean',
  more: object,
  description: string,
): object {
  return { type: [type, 'string'], pattern: expressionPattern, ...more, description };
}

/** A score. */
export const score = { minimum: 0, maximum: 1 } as const;
