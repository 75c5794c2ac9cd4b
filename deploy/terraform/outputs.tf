output "database_address" {
  description = "Host of PostgreSQL, for the service files intake-database and release-database."
  value       = aws_db_instance.croupier.address
}

output "database_password_secret" {
  description = "Secret that holds the password of the database's administrator."
  value       = aws_db_instance.croupier.master_user_secret[0].secret_arn
}

output "released" {
  description = "For croupier release --output, with a prefix per plan."
  value       = "s3://${aws_s3_bucket.released.id}"
}

output "hosts_security_group_id" {
  description = "Security group of the hosts of serve and release."
  value       = aws_security_group.hosts.id
}

output "policies" {
  description = "Policies for the roles of the hosts of intake and release."
  value       = { for role, policy in aws_iam_policy.role : role => policy.arn }
}
