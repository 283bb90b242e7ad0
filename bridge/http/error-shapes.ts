import type { HttpError } from '../../src/protocol/openai/http-error.ts';

/** The body of an answer with an error. */
type DescribeError = (error: HttpError) => object;

/** How the API that a path belongs to writes its errors, whoever finds them: OpenAI's unless another has the path. */
export function errorShapeOf(pathname: string): DescribeError {
  const [, api] = /^\/(v1\/messages|api)(?:\/|$)/.exec(pathname) ?? [];
  if (api === undefined) return (error) => error;
  return api === 'api' ? ollamaError : messageError;
}

/** The error types of Anthropic's API. */
const TYPE_OF_STATUS: Readonly<Record<number, string>> = {
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

function messageError({ status, message, code, param }: HttpError): object {
  const type = TYPE_OF_STATUS[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return { type: 'error', error: { type, message, code, param } };
}

function ollamaError({ message, code }: HttpError): object {
  return { error: message, code };
}
