/* The HTTP/1.1 door: what it serves and how much it takes. docs/protocols.md is its manual for clients.
 *
 *   http_head      a request's line and header fields, and chunked bodies: llhttp, and the rules that it leaves to us
 *   http_body      a check's JSON into checks
 *   http_problem   errors as RFC 9457 has them
 *   headers        the header fields that tell a client its limits
 *   http_reply     decisions and notes into responses
 *   http           the codec: takes the bytes through all of these
 *
 * A request is parsed where it lies. Its bytes stay in one piece from its first on, so that everything is remembered as an
 * offset from there. How the bytes were split on their way changes nothing of the answers, except that "100 Continue" is
 * left out where the body is there already.
 */
#ifndef LAJU_PROTO_HTTP_H
#define LAJU_PROTO_HTTP_H

#define LAJU_HTTP_HEAD_MAX 16384      /* bytes of request line and header fields; more: 431 */
#define LAJU_HTTP_HEADERS_MAX 100     /* header fields, trailers among them; more: 431 */
#define LAJU_HTTP_URL_MAX 8192        /* bytes of a request's target; more: 414 */
#define LAJU_HTTP_BODY_MAX 2097152    /* bytes of a body: room for a full batch of the longest keys; more: 413 */
#define LAJU_HTTP_CHUNKED_MAX 3145728 /* bytes of a chunked body with its framing and trailers; more: 413 */

#endif
