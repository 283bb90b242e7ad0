/** Identity of one request, made by the client that submits it; unique over all tabs. */
export type RequestId = string & { readonly __brand: 'RequestId' };

/** Identity of one client (a tab, the bridge, an HTTP client behind the bridge): clients take turns. */
export type ClientId = string & { readonly __brand: 'ClientId' };
