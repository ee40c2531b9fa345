// SPDX-License-Identifier: Apache-2.0

extension OffersFileTests {
    private static let message = "7c1d2b1e-5a4f-4a8c-9d1f-2f1f5d0a6b3c"

    /// What is wrong with messages for subscribers who are about to cancel.
    static let retentionRows: [IssueRow] = [
        IssueRow(
            "messages for subscribers who are about to cancel",
            "appAppleId",
            #"retention: {message: {default: "\#(message)", de: "\#(message)"}}, appAppleId"#
        ),
        IssueRow(
            "a message that is none",
            "appAppleId",
            #"retention: {message: "hello"}, appAppleId"#,
            "error: offers:5:28 /apps/0/retention/message: expected the UUID of a message, or an object with one for default "
                + "and for each locale, found “hello”"
        ),
        IssueRow(
            "messages without a default, and for what is no locale",
            "appAppleId",
            #"retention: {message: {english: "\#(message)", de_AT: "\#(message)", "de-at": "\#(message)"}}, appAppleId"#,
            "error: offers:5:38 /apps/0/retention/message/english: is of no locale; expected default, or one such as de or "
                + "pt-BR",
            "error: offers:5:134 /apps/0/retention/message/de-at: is of a locale that is listed already",
            "error: offers:5:28 /apps/0/retention/message: has no default, for locales that are not listed"
        ),
        IssueRow(
            "a message of an app that requests can't name",
            "appAppleId: 1234567890,",
            #"retention: {message: "\#(message)"},"#,
            "error: offers:5:18 /apps/0/retention: needs the app's appAppleId; in production, requests name the app by it alone"
        ),
        IssueRow(
            "an offer that is shown by an app without a message",
            #"{id: "one", "#,
            #"{id: "one", retention: {message: "\#(message)"}, "#,
            "error: offers:3:5 /apps/0/retention: is missing; its message is shown where no offer can be, so plans and offers "
                + "with retention need it"
        ),
        IssueRow(
            "a change to a product of no plan",
            "plans: [",
            #"""
            retention: {message: "\#(message)"},
            plans: [{appStore: {productId: "a"}, retention: {switchTo: {productId: "b", message: "\#(message)"}}},
            """#,
            "error: offers:7:72 /apps/0/plans/0/retention/switchTo/productId: is of no plan of this app; add its plan, which "
                + "needs no offers"
        ),
    ]
}
