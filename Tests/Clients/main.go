// SPDX-License-Identifier: Apache-2.0

// Calls by the client that openapi-generator makes for Go.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	api "offersigner"
)

func check(ok bool, err error, call string, answer any) {
	if err != nil || !ok {
		fmt.Printf("%s: %v %+v\n", call, err, answer)
		os.Exit(1)
	}
}

func caller(key string) (*api.APIClient, context.Context) {
	configuration := api.NewConfiguration()
	configuration.Servers = api.ServerConfigurations{{URL: os.Args[1]}}
	return api.NewAPIClient(configuration), context.WithValue(context.Background(), api.ContextAccessToken, key)
}

func request(customer, offer string, status api.SubscriptionStatus) api.SignatureRequest {
	facts := api.NewFacts()
	facts.SetStatus(status)
	facts.SetExpiresAt("2026-01-01T00:00:00Z")
	request := api.NewSignatureRequest("com.example.app", "com.example.pro.monthly", offer)
	request.SetCustomerId(customer)
	request.SetFacts(*facts)
	return *request
}

func sign(client *api.APIClient, with context.Context) *api.SignedOffer {
	call := client.SignaturesAPI.SignPromotionalOffer(with)
	offer, _, err := call.SignatureRequest(request("go-1", "winback_3m", api.EXPIRED)).Execute()
	check(err == nil && offer.GetSignature() != "" && offer.Decision.Outcome == "eligible", err, "sign", offer)

	_, answer, err := call.SignatureRequest(request("go-2", "winback_3m", api.ACTIVE)).Execute()
	var failure *api.GenericOpenAPIError
	check(errors.As(err, &failure) && answer.StatusCode == 403, nil, "refusal", err)
	problem, ok := failure.Model().(api.Problem)
	check(ok && problem.Type == "/problems/not-eligible" && problem.Decision != nil, nil, "refusal", failure.Model())
	return offer
}

func signBatch(client *api.APIClient, with context.Context) {
	requests := api.NewSignatureRequests([]api.SignatureRequest{
		request("go-3", "winback_3m", api.EXPIRED), request("go-4", "none", api.EXPIRED),
	})
	answer, _, err := client.SignaturesAPI.SignPromotionalOffers(with).SignatureRequests(*requests).Execute()
	check(err == nil && len(answer.Results) == 2, err, "batch", answer)
	granted, refused := answer.Results[0], answer.Results[1]
	check(granted.Grant.GetSignature() != "" && granted.Problem == nil, nil, "batch", granted)
	check(refused.Status == 404 && refused.Problem.Type == "/problems/unknown-offer", nil, "batch", refused)
}

func preview(client *api.APIClient, with context.Context) {
	request := api.NewEligibilityRequest()
	request.SetBundleId("com.example.app")
	request.SetCustomerId("go-5")
	answer, _, err := client.EligibilityAPI.PreviewOffers(with).EligibilityRequest(*request).Execute()
	check(err == nil && len(answer.Offers) > 2 && len(answer.Products) > 0, err, "eligibility", answer)
}

func authorize(client *api.APIClient, with context.Context) {
	request := api.NewAuthorizationRequest("com.example.app", "premium", "monthly", "winback-50")
	request.SetCustomerId("go-6")
	facts := api.NewFacts()
	facts.SetSubscribedBefore(true)
	request.SetFacts(*facts)
	answer, _, err := client.AuthorizationsAPI.AuthorizeGooglePlayOffer(with).AuthorizationRequest(*request).Execute()
	check(err == nil && len(answer.Phases) > 0 && len(answer.HideTags) > 0, err, "authorization", answer)
}

func audit(client *api.APIClient, with context.Context, offer *api.SignedOffer) {
	call := client.AuditAPI.ListAuditEntries(with).Grant(offer.GrantId).From(time.Now().Add(-time.Hour).Format(time.RFC3339))
	page, _, err := call.Execute()
	check(err == nil && len(page.Entries) > 0, err, "audit", page)
	entry := page.Entries[0].Entry
	check(entry.AdditionalProperties["grant"] == offer.GrantId, nil, "audit", entry)
	whole, _, err := client.AuditAPI.GetAuditEntry(with, page.Entries[0].Index).Execute()
	check(err == nil && whole.Entry.T == entry.T, err, "audit entry", whole)
	log, _, err := client.AuditAPI.GetAuditLog(with).Execute()
	check(err == nil && log.Size >= page.Size, err, "audit log", log)

	presented := api.NewPresentedSignature()
	presented.SetBundleId("com.example.app")
	presented.SetProductId("com.example.pro.monthly")
	presented.SetOfferId(offer.Identifier)
	presented.SetKeyIdentifier(offer.KeyIdentifier)
	presented.SetNonce(offer.Nonce)
	presented.SetTimestamp(offer.Timestamp)
	presented.SetSignature(offer.GetSignature())
	found, _, err := client.AuditAPI.LookUpSignature(with).PresentedSignature(*presented).Execute()
	check(err == nil && found.SignatureVerifies.IsSet() && *found.SignatureVerifies.Get(), err, "lookup", found)
}

func main() {
	client, backend := caller(os.Args[2])
	offer := sign(client, backend)
	signBatch(client, backend)
	preview(client, backend)
	authorize(client, backend)
	client, auditor := caller(os.Args[3])
	audit(client, auditor, offer)
	fmt.Println("sign, batch, eligibility, authorization and audit work")
}
